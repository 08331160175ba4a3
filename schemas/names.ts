import { z } from 'zod'

const LONGEST_NAME = 64

/** What agents, servers and the like may be called. */
export const name = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?$/, 'must be lower-case letters, digits, - and _, at most 64')

/** What servers may be called: what is of a server goes by its name, and the hub's own goes by `hub`. */
export const serverName = name.regex(/^(?!hub$)/, 'must not be hub, which is the hub itself')

/** The longest number behind a name that another server has already: `github-1000`. */
const ROOM_FOR_NUMBER = 5

/**
 * The names of servers as they are written, and what the servers are called: "Home Assistant" is home-assistant. What
 * is a name already stays; of two that would be called alike the second gets a number.
 */
export function toServerNames(written: readonly string[]): Map<string, string> {
  const isName = (one: string) => name.safeParse(one).success
  const taken = new Set(written.filter(isName))
  const called = written.map((one): [string, string] => {
    if (isName(one)) return [one, one]
    const slug = toSlug(one)
    let free = slug
    for (let number = 2; taken.has(free); number++) free = `${slug}-${number}`
    taken.add(free)
    return [one, free]
  })
  return new Map(called)
}

/** "Büro 2" is buro-2; what has neither letters nor digits of ASCII is server. */
function toSlug(written: string): string {
  const plain = written.normalize('NFKD').replace(/\p{M}+/gu, '')
  const slug = plain
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '-')
    .replace(/^[-_]+/, '')
    .slice(0, LONGEST_NAME - ROOM_FOR_NUMBER)
    .replace(/[-_]+$/, '')
  return slug || 'server'
}

/** `<agent>` or `<agent>/<slug>`, or a name that an agent's file lists. */
export const conversationId = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9_-]{0,63}(?:\/[A-Za-z0-9][A-Za-z0-9._-]{0,63})?$/,
    'must be <agent> or <agent>/<slug>: letters, digits, . _ -',
  )
