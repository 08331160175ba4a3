import { toCanonicalJson } from '../core/json.ts'
import type { Log } from '../core/log.ts'

/** The server that had each name that others wanted too. */
export interface NameOwners {
  readonly tools: ReadonlyMap<string, string>
  readonly prompts: ReadonlyMap<string, string>
}

/** Keeps the `NameOwners` over restarts. */
export interface NameMemory {
  read(): Promise<NameOwners>
  save(owners: NameOwners): Promise<void>
}

export const NO_OWNERS: NameOwners = { tools: new Map(), prompts: new Map() }

/** Opens the owners as far as they are known: the last run's once they are read, then those of `keep`. */
export function openNameOwners({
  memory,
  log,
  onRead,
}: {
  memory: NameMemory
  log: Log
  onRead: () => void
}) {
  let known: NameOwners | undefined
  const read = async () => {
    known = await memory.read()
    onRead()
  }
  read().catch(error => log.warn('name_owners_not_read', { error }))
  return {
    get known(): NameOwners {
      return known ?? NO_OWNERS
    },
    get isRead(): boolean {
      return known !== undefined
    },
    keep(next: NameOwners): void {
      // Nothing is kept before the earlier owners are read, since it would replace them.
      if (!known || toText(known) === toText(next)) return
      known = next
      memory.save(next).catch(error => log.warn('name_owners_not_saved', { error }))
    },
  }
}

function toText({ tools, prompts }: NameOwners): string {
  return toCanonicalJson([Object.fromEntries(tools), Object.fromEntries(prompts)])
}
