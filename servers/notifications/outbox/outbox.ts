import { existsSync } from 'node:fs'
import type { Database } from 'better-sqlite3'
import { type Dispatcher, type DispatcherDeps, startDispatcher } from './dispatcher.ts'
import { openDatabase } from './open.ts'

export interface OpenOutbox {
  readonly database: Database
  readonly dispatcher: Dispatcher
}

/** The outbox and history in one SQLite file. Dispose it after its last use. */
export interface Outbox extends AsyncDisposable {
  /** Opens the file and starts to deliver, at the first call. Rejects with ToolFailure. */
  open(): Promise<OpenOutbox>
  /** Opens the outbox if its file exists; undefined if nothing was ever sent. */
  openExisting(): Promise<OpenOutbox | undefined>
}

export function createOutbox(path: string, deps: Omit<DispatcherDeps, 'database'>): Outbox {
  let opened: Promise<OpenOutbox> | undefined
  let isEnded = false
  const start = async () => {
    const database = await openDatabase(path)
    if (!isEnded) return { database, dispatcher: startDispatcher({ ...deps, database }) }
    database.close()
    throw new Error('The server ends.')
  }
  const open = () => {
    opened ??= start().catch(error => {
      opened = undefined
      throw error
    })
    return opened
  }
  return {
    open,
    openExisting: async () => (existsSync(path) ? open() : undefined),
    async [Symbol.asyncDispose]() {
      isEnded = true
      const running = await opened?.catch(() => undefined)
      await running?.dispatcher[Symbol.asyncDispose]()
      running?.database.close()
    },
  }
}
