import { expect, test } from 'vitest'
import { openChat } from '../support/chat-client.ts'
import { openClient, textOf } from '../support/clients.ts'
import { odd, untilReady } from '../support/downstream.ts'
import { AGENT, invite, signIn } from '../support/roles.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { until } from '../support/until.ts'

const enter = async (hub: TestHub, name: string, role: 'member' | 'guest') => ({
  url: hub.url,
  token: await signIn(hub, await invite(hub, name, role)),
})

async function seen(at: { url: string; token: string }): Promise<string[]> {
  using chat = await openChat(at)
  return (await chat.next('welcome')).conversations.map(({ id }) => id).sort()
}

test('an agent that is shared shows nobody what its owner said to it', async () => {
  await using hub = await startTestHub({ agents: { homelab: AGENT(false) } })
  const anna = await enter(hub, 'anna', 'member')
  using owner = await openChat(hub)
  for (const conversation of ['homelab', 'homelab/disks']) {
    owner.send({ type: 'message', conversation, text: 'The key is under the stone' })
    await owner.next('accepted', ({ message }) => message.conversation === conversation)
  }
  expect(await seen(anna)).toEqual([])
  hub.writeAgent('homelab', AGENT(true))
  await until('the agent is shared', async () => (await seen(anna)).length > 0)
  expect(await seen(anna)).toEqual(['homelab/anna'])
  hub.writeAgent('homelab', AGENT('[homelab/disks]'))
  await until('a conversation is named', async () => (await seen(anna)).length > 1)
  expect(await seen(anna)).toEqual(['homelab/anna', 'homelab/disks'])
  expect(await seen(await enter(hub, 'gus', 'guest'))).toEqual(['homelab/gus'])
})

test('nobody new gets a name under which others were talking before, and who was locked out comes back', async () => {
  await using hub = await startTestHub({ agents: { homelab: AGENT(true) } })
  await using owner = await openClient('sdk 2, 2026-07-28', hub)
  const say = async (at: { url: string; token: string }, conversation: string) => {
    using chat = await openChat(at)
    chat.send({ type: 'message', conversation, text: 'The key is under the stone' })
    await chat.next('accepted', ({ message }) => message.conversation === conversation)
  }
  await say(hub, 'homelab/bert')
  const refused = await owner.call('hub_add_person', { name: 'Bert' })
  expect(textOf(refused)).toMatch(/said in homelab\/bert would be bert's to read: give another name/)
  await say(await enter(hub, 'anna', 'member'), 'homelab/anna')
  await owner.call('hub_remove_person', { name: 'anna' })
  expect(await seen(await enter(hub, 'anna', 'member'))).toEqual(['homelab/anna'])
})

test('a member writes in a conversation that is named as shared, and gives titles only to the own ones', async () => {
  await using hub = await startTestHub({ agents: { family: AGENT('[family/kitchen]') } })
  const anna = await enter(hub, 'anna', 'member')
  await using client = await openClient('sdk 2, 2026-07-28', anna)
  const rename = async (conversation: string) => {
    const result = await client.call('hub_change_conversation', { conversation, title: 'Mine' })
    return result.isError ? textOf(result) : 'done'
  }
  using chat = await openChat(anna)
  for (const conversation of ['family/kitchen', 'family/anna', 'family/anna.trip']) {
    chat.send({ type: 'message', conversation, text: 'hi' })
    const { message } = await chat.next('accepted', one => one.message.conversation === conversation)
    expect(message.author).toBe('anna')
  }
  await chat.next('agent', ({ name, status }) => name === 'family' && status === 'active')
  expect(await rename('family/kitchen')).toMatch(/Only the owner renames or pins family\/kitchen/)
  expect([await rename('family/anna'), await rename('family/anna.trip')]).toEqual(['done', 'done'])
})

test('an approval tells whose words led to it, so that a member is asked for the own ones alone', async () => {
  const config = JSON.stringify({ servers: { odd: odd().entry }, tools: { approve: ['odd__swallow'] } })
  await using hub = await startTestHub({ config, agents: { family: AGENT('[family/kitchen]') } })
  await untilReady(hub, 'odd')
  const anna = await enter(hub, 'anna', 'member')
  await using client = await openClient('sdk 2, 2026-07-28', anna)
  using chat = await openChat(anna)
  using owner = await openChat(hub)
  for (const [name, from, conversation] of [
    ['owner', owner, 'family/kitchen'],
    ['anna', chat, 'family/anna'],
  ] as const) {
    from.send({ type: 'message', conversation, text: '/call odd__swallow {}' })
    const isAsked = (one: { status: string; conversation?: string }) =>
      one.status === 'open' && one.conversation === conversation
    const { approval } = await chat.next('approval', frame => isAsked(frame.approval))
    expect(approval.askedBy).toEqual([name])
    // A message of the next person that came before the end of the work would be part of it.
    await chat.next('agent', frame => frame.name === 'family' && frame.status === 'waiting')
  }
  const { structuredContent } = await client.call('hub_list_approvals', { status: 'open' })
  const { approvals } = structuredContent as { approvals: { askedBy: string[] }[] }
  expect(approvals.map(({ askedBy }) => askedBy)).toEqual([['anna'], ['owner']])
})

test('a person has a name as people write it, and nobody gets the link of somebody with a like name', async () => {
  await using hub = await startTestHub({ agents: { homelab: AGENT(true) } })
  await using client = await openClient('sdk 2, 2026-07-28', hub)
  const add = async (name: string) => {
    const { structuredContent, isError, ...result } = await client.call('hub_add_person', { name })
    return isError ? textOf({ ...result }) : (structuredContent as { name: string; title: string })
  }
  expect(await add('Anna Maria')).toMatchObject({ name: 'anna-maria', title: 'Anna Maria' })
  expect(await add('anna-maria')).toMatchObject({ name: 'anna-maria', title: 'Anna Maria' })
  expect(await add('Anna-María')).toContain('Anna Maria writes as anna-maria already')
  expect(await add('Аня')).toContain('needs a letter from a to z')
  expect(await add('Owner')).toContain('must not be owner')
  const { structuredContent } = await client.call('hub_list_tokens', {})
  const { people } = structuredContent as { people: object[] }
  expect(people).toMatchObject([{ name: 'anna-maria', title: 'Anna Maria', role: 'member' }])
})
