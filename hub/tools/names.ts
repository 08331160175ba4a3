import { createHash } from 'node:crypto'

const LONGEST = 64
const HASH_LENGTH = 8

/** A name that every client and provider takes: `^[A-Za-z0-9_-]{1,64}$`, a longer one shortened with a stable hash. */
export function toToolName(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9_-]/g, '_')
  if (plain.length <= LONGEST && plain.length > 0) return plain
  return `${plain.slice(0, LONGEST - HASH_LENGTH - 1)}_${shortHash(name)}`
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, HASH_LENGTH)
}

export interface NamedServer {
  server: string
  prefix: string
  tools: readonly string[]
}

export interface NamedTool {
  name: string
  server: string
  /** Its name on its server. */
  original: string
  /** Why it is not called what it would be called. */
  collision?: string
}

/**
 * Names all tools of all servers. The first in the list keeps a name that two want, the other gets its server's
 * name in front all the same; names in `taken` are nobody's. The result is in a stable order: by server, then as
 * the server lists them.
 */
export function nameTools(servers: readonly NamedServer[], taken: ReadonlySet<string>): NamedTool[] {
  const owners = new Map<string, string>([...taken].map(name => [name, 'the hub']))
  return servers.flatMap(({ server, prefix, tools }) =>
    tools.map(original => {
      const wanted = toToolName(`${prefix}${original}`)
      const owner = owners.get(wanted)
      const name = owner === undefined ? wanted : freeName(owners, server, original)
      owners.set(name, server)
      const collision = owner === undefined ? undefined : `${wanted} is taken by ${owner}`
      return { name, server, original, ...(collision ? { collision } : {}) }
    }),
  )
}

function freeName(owners: ReadonlyMap<string, string>, server: string, original: string): string {
  const prefixed = `${server}__${original}`
  const candidates = [prefixed, `${prefixed.slice(0, LONGEST)}_${shortHash(prefixed)}`].map(toToolName)
  const free = candidates.find(candidate => !owners.has(candidate))
  return free ?? toToolName(`${shortHash(`${owners.size}${prefixed}`)}_${prefixed}`)
}
