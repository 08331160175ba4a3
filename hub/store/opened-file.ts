import { statSync } from 'node:fs'
import { StoreFault } from './store-fault.ts'

/**
 * A database's file as it was opened. SQLite goes on writing into a file that was deleted, and all of that is
 * lost at its end.
 */
export interface OpenedFile {
  /** Returns why nothing can be stored, for people; undefined while the file is in its place. */
  findProblem(): string | undefined
  /** Throws a StoreFault if there is a problem. */
  check(): void
}

export function createOpenedFile(file: string): OpenedFile {
  // SQLite itself recognizes a moved file by its inode, and reports it to nobody in WAL.
  const inodeOf = () => statSync(file, { bigint: true, throwIfNoEntry: false })?.ino
  const opened = inodeOf()
  const findProblem = () => {
    if (inodeOf() === opened) return undefined
    return `${file} was deleted, moved or replaced while the hub runs, so that nothing is stored any more. Put the same file back; or stop the hub and put a backup back with: superbloom restore FILE`
  }
  return {
    findProblem,
    check() {
      const problem = findProblem()
      if (problem !== undefined) throw new StoreFault('unreachable', problem)
    },
  }
}
