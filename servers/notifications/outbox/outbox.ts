import { existsSync } from 'node:fs'
import type { Database } from 'better-sqlite3'
import { type Dispatcher, type DispatcherDeps, startDispatcher } from './dispatcher.ts'
import { openDatabase } from './open.ts'

export interface OpenOutbox {
  readonly database: Database
  readonly dispatcher: Dispatcher
}

export type Outbox = ReturnType<typeof createOutbox>

/** Creates the outbox and history in one SQLite file. Dispose it after its last use. */
export function createOutbox(path: string, deps: Omit<DispatcherDeps, 'database'>) {
  let opened: Promise<OpenOutbox> | undefined
  let isEnded = false
  const start = async () => {
    const database = await openDatabase(path)
    if (!isEnded) return { database, dispatcher: startDispatcher({ ...deps, database }) }
    database.close()
    throw new Error('The server ends.')
  }
  /** Opens the file and starts to deliver, at the first call. Rejects with ToolFailure. */
  const open = (): Promise<OpenOutbox> => {
    opened ??= start().catch(error => {
      opened = undefined
      throw error
    })
    return opened
  }
  return {
    open,
    /** Opens the outbox if its file exists; undefined if nothing was ever sent. */
    openExisting: async (): Promise<OpenOutbox | undefined> => (existsSync(path) ? open() : undefined),
    async [Symbol.asyncDispose]() {
      isEnded = true
      const running = await opened?.catch(() => undefined)
      await running?.dispatcher[Symbol.asyncDispose]()
      running?.database.close()
    },
  }
}
