import type { Database } from 'better-sqlite3'
import { type Dispatcher, type DispatcherDeps, startDispatcher } from './dispatcher.ts'
import { createOutboxFile } from './open.ts'

export interface OpenOutbox {
  readonly database: Database
  readonly dispatcher: Dispatcher
}

/** The running outbox. Dispose it after its last use. */
export interface Outbox extends AsyncDisposable {
  /** Opens the file and starts to deliver, at the first call. Rejects with ToolFailure. */
  open(): Promise<OpenOutbox>
  /** Opens the outbox if its file exists; undefined if nothing was ever sent. */
  openExisting(): Promise<OpenOutbox | undefined>
}

export function createOutbox(path: string, deps: Omit<DispatcherDeps, 'database'>): Outbox {
  const file = createOutboxFile(path)
  let started: Promise<OpenOutbox> | undefined
  let isEnded = false
  const start = async () => {
    const database = await file.open()
    if (isEnded) throw new Error('The server ends.')
    return { database, dispatcher: startDispatcher({ ...deps, database }) }
  }
  const open = () => {
    started ??= start().catch(error => {
      started = undefined
      throw error
    })
    return started
  }
  return {
    open,
    openExisting: async () => (file.exists() ? open() : undefined),
    async [Symbol.asyncDispose]() {
      isEnded = true
      const running = await started?.catch(() => undefined)
      await running?.dispatcher[Symbol.asyncDispose]()
      file[Symbol.dispose]()
    },
  }
}
