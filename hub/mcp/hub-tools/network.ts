import { z } from 'zod'
import { deviceLink, reach } from '../../../schemas/reach.ts'
import { HubError } from '../../core/errors.ts'
import { defineHubTool } from './hub-tool.ts'

export const describeReach = defineHubTool({
  name: 'hub_describe_reach',
  title: 'How devices reach the hub',
  description:
    'The addresses at which phones and other devices reach the hub, and which of them it refuses so far.',
  input: z.strictObject({}),
  output: z.object({ reach, document: z.string().describe("what to read on the hub's machine") }),
  effect: 'reads',
  right: 'admin',
  run: async (_args, { deps: { network } }) => ({ reach: network.reach(), document: network.document }),
  toText: ({ reach: found }) => {
    if (found.kind === 'alone') return 'The hub listens for its own machine alone.'
    if (found.kind === 'unknown') return found.why
    const refused = found.refused.length === 0 ? '' : ` It refuses ${found.refused.join(', ')} so far.`
    return `Other devices reach it at ${found.urls.join(' or ')}.${refused}`
  },
})

export const allowReach = defineHubTool({
  name: 'hub_allow_reach',
  title: 'Let addresses in',
  description: 'Writes the refused addresses of hub_describe_reach under hosts in superbloom.yaml.',
  input: z.strictObject({}),
  output: z.object({ file: z.string() }),
  effect: 'removes',
  right: 'admin',
  run: (_args, { deps, principal }) => deps.network.letIn(principal),
  toText: ({ file }) => `Wrote the addresses into ${file}.`,
})

export const linkDevice = defineHubTool({
  name: 'hub_link_device',
  title: 'Sign in on another device',
  description:
    'Makes a link and its QR code with which the owner signs in on one more device, once and within ten minutes.',
  input: z.strictObject({}),
  output: deviceLink,
  effect: 'adds',
  right: 'admin',
  async run(_args, { deps, principal }) {
    const found = deps.network.reach()
    const url = found.kind === 'reached' && found.refused.length === 0 ? found.urls[0] : undefined
    if (url === undefined)
      throw new HubError('conflict', 'No other device reaches the hub yet: hub_describe_reach says why.')
    const { secret, expiresAt } = await deps.tokens.inviteOwner(principal.name)
    const link = `${url}/#token=${secret}`
    const { encode } = await import('uqr')
    const code = encode(link, { border: 2 }).data.map(row => row.map(Number).join(''))
    return { link, code, ...(expiresAt === undefined ? {} : { expiresAt }) }
  },
  toText: ({ link }) => `${link}\nSigns you in once, within ten minutes.`,
})
