import { relative } from 'node:path'
import { beforeEach } from 'vitest'
import { SQLITE_ONLY } from './sqlite-only.ts'

const root = `${import.meta.dirname}/../..`

/* Skips the tests that apply only to SQLite. */

beforeEach(({ task, skip }) => {
  const file = relative(root, task.file.filepath).replaceAll('\\', '/')
  const found = SQLITE_ONLY.find(each => each.file === file && (each.tests?.includes(task.name) ?? true))
  if (found) skip(`only on SQLite: ${found.why}`)
})
