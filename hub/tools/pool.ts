import { Connection, type ConnectionDeps } from './connection.ts'
import { type ServerSpec, specHash } from './server-spec.ts'

/** One connection for each server that shall run. Who makes it disposes of it. */
export interface Pool extends AsyncDisposable {
  /** Starts what is new, ends what is gone, starts anew what changed; the others go on. Waits for none. */
  apply(specs: readonly ServerSpec[]): void
  find(name: string): Connection | undefined
  /** In the order of the specs; undefined before there were any. */
  readonly all: readonly Connection[] | undefined
}

export function createPool(deps: ConnectionDeps): Pool {
  const entries = new Map<string, { hash: string; connection: Connection }>()
  const ending = new Set<Promise<void>>()
  let order: string[] | undefined
  let disposed = false

  const end = (name: string, connection: Connection) => {
    entries.delete(name)
    const ended = connection[Symbol.asyncDispose]()
      .catch(error => deps.log.error('server_not_ended', { server: name, error }))
      .finally(() => ending.delete(ended))
    ending.add(ended)
  }
  return {
    apply(specs) {
      // A change of the config may still be on its way when the hub stops.
      if (disposed) return
      order = specs.map(spec => spec.name)
      const hashes = new Map(specs.map(spec => [spec.name, specHash(spec)]))
      for (const [name, { hash, connection }] of [...entries]) {
        if (hashes.get(name) !== hash) end(name, connection)
      }
      for (const spec of specs) {
        if (entries.has(spec.name)) continue
        entries.set(spec.name, { hash: specHash(spec), connection: new Connection(spec, deps) })
      }
    },
    find: name => entries.get(name)?.connection,
    get all() {
      return order?.flatMap(name => entries.get(name)?.connection ?? [])
    },
    async [Symbol.asyncDispose]() {
      disposed = true
      for (const [name, { connection }] of [...entries]) end(name, connection)
      await Promise.all(ending)
    },
  }
}
