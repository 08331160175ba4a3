import { HubError } from '../core/errors.ts'
import { Connection, type ConnectionDeps } from './connection.ts'
import { type ServerSpec, specHash } from './server-spec.ts'

/** One connection for each server that shall run. Who makes it disposes of it. */
export interface Pool extends AsyncDisposable {
  /**
   * Starts what is new, ends what is gone, starts anew what changed; the others go on. Waits for none. What ends takes
   * nothing new at once, and ends when its last use did, or after the time that a call may take.
   */
  apply(specs: readonly ServerSpec[]): void
  /** Runs something with a server's connection, which stays until that is over. Throws `not_found` for an unknown one. */
  use<Result>(name: string, run: (connection: Connection) => Promise<Result>): Promise<Result>
  /** In the order of the specs; undefined before there were any. */
  readonly all: readonly Connection[] | undefined
}

interface Entry {
  hash: string
  connection: Connection
  uses: number
  /** Told when the last use is over. */
  onIdle?: () => void
}

export function createPool(deps: ConnectionDeps): Pool {
  const entries = new Map<string, Entry>()
  const draining = new Set<() => void>()
  const ending = new Set<Promise<void>>()
  let order: string[] | undefined
  let disposed = false

  // What ends shall not read the events of what took its place once more.
  const onEvents = (connection: Connection) => {
    if (entries.get(connection.spec.name)?.connection === connection) deps.onEvents(connection)
  }
  const end = (name: string, { connection }: Entry) => {
    const ended = connection[Symbol.asyncDispose]()
      .catch(error => deps.log.error('server_not_ended', { server: name, error }))
      .finally(() => ending.delete(ended))
    ending.add(ended)
  }
  const drain = (name: string, entry: Entry) => {
    entries.delete(name)
    if (entry.uses === 0) return end(name, entry)
    deps.log.info('server_drains', { server: name, uses: entry.uses })
    const finish = () => {
      if (!draining.delete(finish)) return
      cancel()
      end(name, entry)
    }
    const cancel = deps.clock.after(deps.callTimeout, finish)
    entry.onIdle = finish
    draining.add(finish)
  }
  return {
    apply(specs) {
      // A change of the config may still be on its way when the hub stops.
      if (disposed) return
      order = specs.map(spec => spec.name)
      const hashes = new Map(specs.map(spec => [spec.name, specHash(spec)]))
      for (const [name, entry] of [...entries]) {
        if (hashes.get(name) !== entry.hash) drain(name, entry)
      }
      for (const spec of specs) {
        if (entries.has(spec.name)) continue
        const connection = new Connection(spec, { ...deps, onEvents })
        entries.set(spec.name, { hash: specHash(spec), connection, uses: 0 })
      }
    },
    async use(name, run) {
      const entry = entries.get(name)
      if (!entry) throw new HubError('not_found', `There is no server ${name}`)
      entry.uses++
      try {
        return await run(entry.connection)
      } finally {
        entry.uses--
        if (entry.uses === 0) entry.onIdle?.()
      }
    },
    get all() {
      return order?.flatMap(name => entries.get(name)?.connection ?? [])
    },
    async [Symbol.asyncDispose]() {
      disposed = true
      for (const finish of [...draining]) finish()
      for (const [name, entry] of [...entries]) end(name, entry)
      entries.clear()
      await Promise.all(ending)
    },
  }
}
