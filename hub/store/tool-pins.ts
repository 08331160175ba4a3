import type { Kysely } from 'kysely'
import type { Tables, ToolPinRow } from './tables.ts'
import type { Tx } from './writer.ts'

export async function readToolPins(db: Kysely<Tables>): Promise<ToolPinRow[]> {
  return db.selectFrom('tool_pins').selectAll().execute()
}

/** Saves pins, in place of those that the same tools had. */
export async function saveToolPins(tx: Tx, rows: readonly ToolPinRow[]): Promise<void> {
  for (const row of rows)
    await tx
      .insertInto('tool_pins')
      .values(row)
      .onConflict(conflict => conflict.columns(['server', 'tool']).doUpdateSet(row))
      .execute()
}

/** Deletes the pins of all tools of a server. */
export async function deleteToolPins(tx: Tx, server: string): Promise<void> {
  await tx.deleteFrom('tool_pins').where('server', '=', server).execute()
}
