import { agents } from './agents.ts'
import { commands } from './commands.ts'
import { libraries } from './libraries.ts'
import { official } from './official.ts'
import type { ClientDriver } from './open-client.ts'

/** Every client of the table, in its order. */
export const clients: readonly ClientDriver[] = [...official, ...commands, ...libraries, ...agents]

/** Returns the label of a row. */
export function labelOf({ name, over }: Pick<ClientDriver, 'name' | 'over'>): string {
  return `${name}, ${over}`
}
