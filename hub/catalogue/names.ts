import { createHash } from 'node:crypto'

const HASH_LENGTH = 8

/** Returns a name for every client and provider: `^[A-Za-z0-9_-]+$`, a longer one cut with a stable hash. */
export function toToolName(name: string, longest: number): string {
  const plain = name.replace(/[^A-Za-z0-9_-]/g, '_')
  if (plain.length <= longest && plain.length > 0) return plain
  return withHash(plain, name, longest)
}

function withHash(plain: string, of: string, longest: number): string {
  return `${plain.slice(0, longest - HASH_LENGTH - 1)}_${shortHash(of)}`
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, HASH_LENGTH)
}

export interface NamedServer {
  server: string
  prefix: string
  /** The names of its tools; undefined while unknown: the server has not been ready since the hub's start. */
  tools: readonly string[] | undefined
}

export interface NamedTool {
  name: string
  server: string
  /** Its name on its server. */
  original: string
  /** The reason why it did not get its usual name; undefined if it did. */
  collision?: string
}

export interface NamingRules {
  /** Names that no server may have. */
  taken: ReadonlySet<string>
  /** The most characters of a name. */
  longest: number
  /** The server that had each contested name, which it gets again, even while its tools are unknown. */
  owners: ReadonlyMap<string, string>
}

export interface Naming {
  names: NamedTool[]
  /** The owners of names, to be passed to the next naming. */
  owners: Map<string, string>
}

/**
 * Names all tools of all servers. Of two that want one name, the first server in the list gets it; the
 * other's tool gets its server's name in front. A later server changes no name of those before it, and the
 * order in which a server lists its tools none at all. The result is in a stable order: by server, then as
 * listed.
 */
export function nameTools(servers: readonly NamedServer[], rules: NamingRules): Naming {
  const holders = new Map([...rules.taken].map(name => [name, 'the hub']))
  const owners = new Map<string, string>()
  const isFree = (name: string) => {
    const holder = holders.get(name)
    if (holder !== undefined && !rules.taken.has(name)) owners.set(name, holder)
    return holder === undefined
  }
  const names = servers.flatMap(({ server, prefix, tools }) => {
    if (!tools) {
      for (const [name, owner] of rules.owners) {
        if (owner !== server || !isFree(name)) continue
        holders.set(name, server)
        owners.set(name, server)
      }
      return []
    }
    const claim = (original: string): NamedTool => {
      const wanted = toToolName(`${prefix}${original}`, rules.longest)
      const holder = holders.get(wanted)
      const name = isFree(wanted) ? wanted : findFree(`${server}__${original}`, rules.longest, isFree)
      holders.set(name, server)
      const collision = holder === undefined ? undefined : `${wanted} is taken by ${holder}`
      return { name, server, original, ...(collision ? { collision } : {}) }
    }
    const isPlain = (tool: string) => toToolName(`${prefix}${tool}`, rules.longest) === `${prefix}${tool}`
    const inOrder = [...tools.entries()].sort(
      ([, a], [, b]) => Number(isPlain(b)) - Number(isPlain(a)) || (a < b ? -1 : Number(a > b)),
    )
    const named = new Map(inOrder.map(([index, original]) => [index, claim(original)]))
    return [...tools.keys()].flatMap(index => named.get(index) ?? [])
  })
  return { names, owners }
}

function findFree(prefixed: string, longest: number, isFree: (name: string) => boolean): string {
  const plain = toToolName(prefixed, longest)
  if (isFree(plain)) return plain
  for (let attempt = 1; ; attempt++) {
    const name = withHash(plain, attempt === 1 ? prefixed : `${prefixed} ${attempt}`, longest)
    if (isFree(name)) return name
  }
}
