import { describe, expect, test } from 'vitest'
import { channelOf, decideConversation, mayApprove, toPrincipal } from './people.ts'

const OWNER = '100000000000000001'
const MEMBER = '100000000000000002'
const ROLE = '300000000000000001'
const CHANNEL = '200000000000000001'
const OTHER = '200000000000000002'
const lists = { owner: OWNER, talk: [MEMBER, ROLE], approve: [ROLE], strangers: 'ignore' as const }
const sender = (id: string, ...roles: string[]) => ({ id, username: 'ada', roles })

describe('who may do what', () => {
  test.each([
    [sender(OWNER), 'owner', true],
    [sender(MEMBER), 'member', false],
    [sender('100000000000000009', ROLE), 'member', true],
    [sender('100000000000000009'), undefined, false],
  ] as const)('%j is %s', (who, role, approves) => {
    expect([toPrincipal(lists, who)?.role, mayApprove(lists, who)]).toEqual([role, approves])
  })

  test('a stranger is a guest only where the config says so', () => {
    const guest = toPrincipal({ ...lists, strangers: 'guests' }, sender('100000000000000009'))
    expect(guest).toEqual({ id: '100000000000000009', name: 'discord-100000000000000009', role: 'guest' })
  })
})

describe('conversations', () => {
  const channels = { [CHANNEL]: 'family' }
  const agentOf = (conversation: string | undefined) => (conversation === 'family' ? 'zoe' : 'homelab')
  const owner = { id: OWNER, name: 'ada', role: 'owner' } as const
  const guest = { id: '1', name: 'discord-1', role: 'guest' } as const

  test.each([
    ['a listed channel', owner, { channel: CHANNEL, isAddressed: false }, 'family'],
    [
      'a thread of it',
      owner,
      { channel: OTHER, parent: CHANNEL, isAddressed: false },
      `zoe/discord-${OTHER}`,
    ],
    ['a mention elsewhere', owner, { channel: OTHER, isAddressed: true }, `homelab/discord-${OTHER}`],
    ['talk elsewhere', owner, { channel: OTHER, isAddressed: false }, undefined],
    ['a guest', guest, { channel: CHANNEL, isAddressed: false }, `zoe/discord-1.${CHANNEL}`],
  ] as const)('%s', (_name, who, place, conversation) => {
    expect(decideConversation({ channels }, who, place, agentOf)).toBe(conversation)
    if (conversation !== undefined) expect(channelOf({ channels }, conversation)).toBe(place.channel)
  })

  test('another conversation is not of Discord', () => {
    expect(channelOf({ channels }, 'homelab')).toBeUndefined()
    expect(channelOf({ channels }, 'homelab/discord-notes')).toBeUndefined()
  })
})
