import { expect, test } from 'vitest'
import { openChat } from '../support/chat-client.ts'
import { runCli } from '../support/cli.ts'
import { LINES, openClient, textOf } from '../support/clients.ts'
import { AGENT, invite, make, signIn } from '../support/roles.ts'
import { startTestHub } from '../support/test-hub.ts'

test('a search of messages finds what its caller may read', async () => {
  await using hub = await startTestHub({ agents: { homelab: AGENT(false), family: AGENT(true) } })
  const client = await make(hub, 'hub_create_token', { name: 'desk', role: 'client' })
  const member = await signIn(hub, await invite(hub, 'anna', 'member'))
  const guest = await signIn(hub, await invite(hub, 'gus', 'guest'))
  using chat = await openChat(hub)
  for (const conversation of ['homelab', 'family', 'family/gus']) {
    await chat.say(conversation, `The key of ${conversation} is under the stone`)
  }
  for (const [token, expected] of [
    [hub.token, ['family', 'family/gus', 'homelab']],
    [client, ['family', 'family/gus', 'homelab']],
    [member, []],
    [guest, ['family/gus']],
  ] as const) {
    await using caller = await openClient(LINES[0], { url: hub.url, token })
    const found = textOf(await caller.call('hub_search_messages', { query: 'STONE key' }))
    expect([...found.matchAll(/^(\S+) 1, .* is under the stone$/gm)].map(([, id]) => id).sort()).toEqual(
      expected,
    )
    expect(textOf(await caller.call('hub_search_messages', { query: 'cellar' }))).toBe('Nothing was found.')
    const { structuredContent } = await caller.call('hub_list_conversations')
    const { conversations } = structuredContent as { conversations: { id: string }[] }
    expect(conversations.map(({ id }) => id).sort()).toEqual(expected)
  }
  const run = async (...args: string[]) => {
    const { stdout } = await runCli(['conversations', ...args], { variables: hub.variables })
    return stdout
  }
  expect((await run()).split('\n')[0]).toMatch(/^family\/gus: \d messages?, the last \d{4}-/)
  expect(await run('show', 'family', '--limit', '1')).toBe('1 owner: The key of family is under the stone\n')
  expect(await run('search', 'STONE', 'gus')).toMatch(/^family\/gus 1, owner: /)
})
