import { z } from 'zod'
import { duration } from './duration.ts'
import { name, toFreeName } from './names.ts'
import { globs } from './tool-rules.ts'

/** Roles of tokens: the owner, people of the house, guests, programs, senders of one webhook, and scrapers. */
export const ROLES = ['owner', 'member', 'guest', 'client', 'hook', 'metrics'] as const
export type Role = (typeof ROLES)[number]
/** Roles that people have. */
export const PEOPLE_ROLES = ['member', 'guest'] as const

/** Name of the owner, whose token is in the data folder or in the environment. */
export const OWNER = 'owner'

/** Names in the audit: of the hub itself, and of all who have no right token. */
export const HUB = 'hub'
export const UNKNOWN = 'unknown'

/** Names that no token and no person may have. */
export const RESERVED = [OWNER, HUB, UNKNOWN]

const ownName = name
  .refine(given => given !== OWNER, 'must not be owner, which is who keeps the hub')
  .refine(
    given => !RESERVED.includes(given),
    'must not be hub or unknown, which stand for others in the audit',
  )
  .refine(given => !given.startsWith('mcp-'), 'must not begin with mcp-, as the conversations of programs do')

export const newToken = z.strictObject({
  name: ownName.describe('what it shows as; for the role hook the name of its webhook'),
  role: z.enum(ROLES).default('client'),
  tools: globs.optional().describe('globs: the only tools that it may use; default all of its role'),
  expiresIn: duration.optional().describe('such as 90d; default never'),
})

export const newPerson = z.strictObject({
  name: z
    .string()
    .trim()
    .min(1)
    .max(64)
    .describe('as people write it: Anna Maria becomes anna-maria in conversations'),
  role: z.enum(PEOPLE_ROLES).optional().describe('default: the one that the person has, else member'),
})

/** Returns the name under which a person writes, `anna-maria` for "Anna Maria", or what is wrong with it, in words. */
export function toPersonName(written: string): { name: string } | { problem: string } {
  const slug = ownName.safeParse(written).success ? written : toFreeName(written, new Set())
  if (slug === undefined) return { problem: 'needs a letter from a to z or a digit: write it as it sounds' }
  const checked = ownName.safeParse(slug)
  return checked.success ? { name: slug } : { problem: checked.error.issues[0]?.message ?? 'is no name' }
}

/** A token as lists show it; times are unix milliseconds. */
export const listedToken = z.object({
  id: z.string(),
  name: z.string(),
  role: z.enum(ROLES),
  kind: z
    .enum(['token', 'session', 'link', 'grant'])
    .describe("link: a person's sign-in that works once; grant: a program that signed in with OAuth"),
  tools: z.array(z.string()).optional(),
  createdAt: z.number(),
  expiresAt: z.number().optional(),
  lastUsedAt: z.number().optional(),
  isYours: z.literal(true).optional().describe('the one that asks now'),
})
export type ListedToken = z.infer<typeof listedToken>

export const listedPerson = z.object({
  name: z.string(),
  title: z.string().optional().describe('the name as it was written, where it is another one'),
  role: z.enum(PEOPLE_ROLES),
  createdAt: z.number(),
})
export type ListedPerson = z.infer<typeof listedPerson>

/** A token as it was made: the only time that its secret is known. */
export interface MadeToken {
  id: string
  secret: string
  expiresAt: number | undefined
}
