import { server } from '../support/test-database.ts'
import type { World } from './world.ts'

/** Checks the file; a server checks its pages by itself. */
export function checkDatabase({ rows }: Pick<World, 'rows'>): string[] {
  if (server !== undefined) return []
  const [found] = rows<{ integrity_check: string }>('pragma integrity_check')
  return found?.integrity_check === 'ok' ? [] : ['The database is damaged']
}
