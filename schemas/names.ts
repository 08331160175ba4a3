import { z } from 'zod'

/** What agents, servers and the like may be called. */
export const name = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?$/, 'must be lower-case letters, digits, - and _, at most 64')

/** What servers may be called: what is of a server goes by its name, and the hub's own goes by `hub`. */
export const serverName = name.regex(/^(?!hub$)/, 'must not be hub, which is the hub itself')

/** `<agent>` or `<agent>/<slug>`, or a name that an agent's file lists. */
export const conversationId = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9_-]{0,63}(?:\/[A-Za-z0-9][A-Za-z0-9._-]{0,63})?$/,
    'must be <agent> or <agent>/<slug>: letters, digits, . _ -',
  )
