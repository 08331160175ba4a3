import { z } from 'zod'

const LONGEST_NAME = 64

/** A name of an agent, a server and the like. */
export const name = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?$/, 'must be lower-case letters, digits, - and _, at most 64')

/** A name of a server. `hub` is reserved: the hub's own resources go by it, a server's go by its name. */
export const serverName = name.regex(/^(?!hub$)/, 'must not be hub, which is the hub itself')

/** Longest suffix, in characters, for a name that another server already has: `github-1000`. */
const ROOM_FOR_NUMBER = 5

/**
 * Maps written names of servers to valid ones: "Home Assistant" becomes home-assistant. A valid name stays;
 * the second of two equal ones gets a number.
 */
export function toServerNames(written: readonly string[]): Map<string, string> {
  const isName = (one: string) => name.safeParse(one).success
  const taken = new Set(written.filter(isName))
  const called = written.map((one): [string, string] => {
    if (isName(one)) return [one, one]
    const free = toFreeName(one, taken) ?? toFreeName('server', taken) ?? one
    taken.add(free)
    return [one, free]
  })
  return new Map(called)
}

/** Makes a name of a text that is not taken; undefined for a text without ASCII letters and digits. */
export function toFreeName(written: string, taken: ReadonlySet<string>): string | undefined {
  const slug = toSlug(written)
  let free = slug
  for (let number = 2; taken.has(free); number++) free = `${slug}-${number}`
  return free || undefined
}

/** Makes "Büro 2" buro-2. */
function toSlug(written: string): string {
  const plain = written.normalize('NFKD').replace(/\p{M}+/gu, '')
  return plain
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '-')
    .replace(/^[-_]+/, '')
    .slice(0, LONGEST_NAME - ROOM_FOR_NUMBER)
    .replace(/[-_]+$/, '')
}

/** The slug of a conversation that was begun without a name; its first message names it. */
export const UNNAMED_SLUG = /^(?:[a-z0-9_-]+\.)?t-[a-z0-9]{8}$/

/** A conversation's id: `<agent>`, `<agent>/<slug>`, or a name that an agent's file lists. */
export const conversationId = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9_-]{0,63}(?:\/[A-Za-z0-9][A-Za-z0-9._-]{0,63})?$/,
    'must be <agent> or <agent>/<slug>: letters, digits, . _ -',
  )
