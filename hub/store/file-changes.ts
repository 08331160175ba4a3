import { HUB } from '../../schemas/tokens.ts'
import type { Principal } from '../core/principal.ts'
import { type AuditEntry, record } from './audit-log.ts'
import { readFileHashes, saveFileHashes, takeRestored } from './hub-state.ts'
import type { Tx } from './writer.ts'

/** A change of one of the operator's files over the hub. */
export interface FileEdit {
  file: string
  by: Principal
}

export interface OperatorFiles {
  /** Unix milliseconds. */
  at: number
  /** SHA-256 of each file as it is now, by path. */
  hashes: ReadonlyMap<string, string>
  /** Reasons why files are not in force, each beginning with its file. */
  refused: readonly string[]
  /** Changes whose authors are known. */
  edits?: readonly FileEdit[]
}

/**
 * Adds files that are not as they were to the audit, after `others`; while no hub ran, they may have changed. Adds
 * also whether the store was put back from a backup.
 */
export async function recordFileChanges(
  tx: Tx,
  { at, hashes: now, refused, edits = [] }: OperatorFiles,
  ...others: AuditEntry[]
): Promise<void> {
  const before = await readFileHashes(tx)
  const changed = [...new Set([...before.keys(), ...now.keys()])].filter(
    file => before.get(file) !== now.get(file),
  )
  const outcomeOf = (file: string) => {
    if (!now.has(file)) return 'removed'
    if (refused.some(message => message.startsWith(file))) return 'refused'
    return before.has(file) ? 'changed' : 'added'
  }
  const entries = changed.map((file): AuditEntry => {
    const by = edits.findLast(edit => edit.file === file)?.by
    const { name, role } = by ?? { name: HUB, role: undefined }
    const door = role === undefined ? 'file' : '/mcp'
    const details = { file, sha256: now.get(file) }
    return { at, kind: 'config', actor: name, role, door, outcome: outcomeOf(file), details }
  })
  const file = await takeRestored(tx)
  const restored: AuditEntry = { at, kind: 'start', actor: HUB, outcome: 'restored', details: { file } }
  await record(tx, ...(file === undefined ? [] : [restored]), ...others, ...entries)
  if (changed.length > 0) await saveFileHashes(tx, now)
}
