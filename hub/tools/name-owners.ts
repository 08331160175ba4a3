import { toCanonicalJson } from '../core/json.ts'
import type { Log } from '../core/log.ts'

/** Which server had each name that others wanted too. */
export interface NameOwners {
  readonly tools: ReadonlyMap<string, string>
  readonly prompts: ReadonlyMap<string, string>
}

/** Keeps them over restarts. */
export interface NameMemory {
  read(): Promise<NameOwners>
  save(owners: NameOwners): Promise<void>
}

export const NO_OWNERS: NameOwners = { tools: new Map(), prompts: new Map() }

/** The owners as far as they are known: from the last run once those are read, then as `keep` says. */
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
      // Before they are read nothing that would replace them is worth keeping.
      if (!known || toText(known) === toText(next)) return
      known = next
      memory.save(next).catch(error => log.warn('name_owners_not_saved', { error }))
    },
  }
}

function toText({ tools, prompts }: NameOwners): string {
  return toCanonicalJson([Object.fromEntries(tools), Object.fromEntries(prompts)])
}
