import { z } from 'zod'
import {
  listedPerson,
  listedToken,
  newPerson,
  newToken,
  ROLES,
  toPersonName,
} from '../../../schemas/tokens.ts'
import { toIso } from '../../core/clock.ts'
import { HubError } from '../../core/errors.ts'
import { plural } from '../../core/text.ts'
import { defineHubTool } from './hub-tool.ts'

const expiresAt = z.number().optional().describe('unix milliseconds')

export const listAllTokens = defineHubTool({
  name: 'hub_list_tokens',
  title: 'List tokens and people',
  description:
    'The tokens and sessions that open the hub, without their secrets, and the people who may sign in.',
  input: z.strictObject({}),
  output: z.object({ tokens: z.array(listedToken), people: z.array(listedPerson) }),
  effect: 'reads',
  right: 'admin',
  async run(_args, { deps, principal }) {
    const { tokens, people } = await deps.tokens.list()
    return {
      tokens: tokens.map(one => (one.id === principal.id ? { ...one, isYours: true as const } : one)),
      people,
    }
  },
  toText: ({ tokens, people }) =>
    [...people.map(({ name, role }) => `person ${name}: ${role}`), ...tokens.map(describeToken)].join('\n') ||
    "No tokens besides the owner's.",
})

function describeToken(one: z.input<typeof listedToken>): string {
  const { kind, name, id, role, tools, expiresAt, lastUsedAt } = one
  const used = lastUsedAt === undefined ? 'never used' : `used ${toIso(lastUsedAt)}`
  const until = expiresAt === undefined ? '' : `, until ${toIso(expiresAt)}`
  return `${kind} ${name} (${id}): ${role}${tools ? ` for ${tools.join(' ')}` : ''}, ${used}${until}`
}

export const createToken = defineHubTool({
  name: 'hub_create_token',
  title: 'Make a token',
  description: 'Makes a token for a program, a webhook or a scraper. Its secret is shown this one time.',
  input: newToken.extend({ replace: z.boolean().default(false).describe('ends the token of this name') }),
  output: z.object({ id: z.string(), token: z.string(), expiresAt }),
  effect: 'adds',
  right: 'admin',
  async run(asked, { deps, principal }) {
    const { id, secret, expiresAt } = await deps.tokens.create({ ...asked, by: principal.name })
    return { id, token: secret, ...(expiresAt === undefined ? {} : { expiresAt }) }
  },
  toText: ({ token }) => `${token}\nIt is shown this one time.`,
})

export const revokeToken = defineHubTool({
  name: 'hub_revoke_token',
  title: 'Revoke tokens',
  description:
    "Ends a token or session by its id, all of one name, or every one: what they hold open ends at once. With all the owner's token is replaced too, where it is in the data folder.",
  input: z.strictObject({ which: z.string().min(1).optional(), all: z.literal(true).optional() }),
  output: z.object({
    revoked: z.array(listedToken),
    isOwnerReplaced: z.boolean().describe("false: the owner's token stays"),
  }),
  effect: 'removes',
  right: 'admin',
  async run({ which, all }, { deps, principal: { name: by } }) {
    if ((which === undefined) === (all === undefined))
      throw new HubError('invalid_arguments', 'hub_revoke_token: give either which or all')
    if (which === undefined) return deps.tokens.revokeAll(by)
    const revoked = await deps.tokens.revoke(which, by)
    if (revoked.length > 0) return { revoked, isOwnerReplaced: false }
    throw new HubError('not_found', `There is no token ${which}; hub_list_tokens lists them.`)
  },
  toText: ({ revoked, isOwnerReplaced }) =>
    `Revoked ${plural(revoked.length, 'token')}.${isOwnerReplaced ? " The owner's token is a new one." : ''}`,
})

export const addPerson = defineHubTool({
  name: 'hub_add_person',
  title: 'Let a person in',
  description:
    'Makes a link with which a person signs in on the page, once and within a day; one per device.',
  input: newPerson,
  output: z.object({ name: z.string(), title: z.string(), role: z.enum(ROLES), link: z.string(), expiresAt }),
  effect: 'adds',
  right: 'admin',
  async run({ name: title, role: asked }, { deps, principal }) {
    const found = toPersonName(title)
    if ('problem' in found)
      throw new HubError('invalid_arguments', `“${title}” cannot be a person's name: it ${found.problem}.`)
    const { name } = found
    const invited = await deps.tokens.invite({ name, title }, asked, principal.name)
    const { secret, expiresAt, role } = invited
    const link = `${deps.url()}/#token=${secret}`
    return { name, title: invited.title, role, link, ...(expiresAt === undefined ? {} : { expiresAt }) }
  },
  toText: ({ name, role, link }) => `${link}\nSigns ${name} in as ${role}, once, within a day.`,
})

export const removePerson = defineHubTool({
  name: 'hub_remove_person',
  title: 'Lock a person out',
  description: 'Ends all sign-ins of a person. What was said stays.',
  input: z.strictObject({ name: z.string() }),
  output: z.object({ name: z.string() }),
  effect: 'removes',
  right: 'admin',
  async run({ name }, { deps, principal }) {
    if (await deps.tokens.remove(name, principal.name)) return { name }
    throw new HubError('not_found', `There is no person ${name}; hub_list_tokens lists them.`)
  },
  toText: ({ name }) => `${name} is signed out everywhere.`,
})
