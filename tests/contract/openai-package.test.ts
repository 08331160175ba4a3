import { once } from 'node:events'
import { request } from 'node:http'
import { APIError } from 'openai'
import { expect, test } from 'vitest'
import { odd, untilReady } from '../support/downstream.ts'
import { AGENT, bearer, invite, make, signIn } from '../support/roles.ts'
import { call, hold, refuse, say, type Turn } from '../support/scripted-model.ts'
import {
  conversationsOf,
  gather,
  messagesIn,
  openAi,
  postCompletion,
  startTalkHub,
  textIn,
  textOfChunks,
  user,
} from '../support/talk-hub.ts'
import { until, within } from '../support/until.ts'

const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
const hi = { model: 'homelab', messages: [user('hi')] }

test('the official client lists the agents, and talks with one', async () => {
  await using world = await startTalkHub([say('Hello.'), say('Again.')])
  const client = openAi(world.hub)
  const { data } = await client.models.list()
  expect(data).toEqual([{ id: 'homelab', object: 'model', created: 0, owned_by: 'superbloom' }])
  const history = [{ role: 'system', content: 'Be a pirate.' } as const, user('zebra')]
  const first = await client.chat.completions.create({ ...hi, messages: [...history, user('hi')] })
  expect(first).toMatchObject({ object: 'chat.completion', model: 'homelab', usage: USAGE })
  expect(first.choices).toMatchObject([
    { finish_reason: 'stop', message: { role: 'assistant', content: 'Hello.' } },
  ])
  await client.chat.completions.create(hi)
  const told = ['user: hi', 'agent: Hello.', 'user: hi', 'agent: Again.']
  expect(await messagesIn(world.hub, 'homelab/mcp-owner')).toEqual(told)
  expect(JSON.stringify(world.model.requests.all)).not.toMatch(/pirate|zebra/)
})

test('the official client gets a stream: the role, the text as it comes, the usage', async () => {
  await using world = await startTalkHub([say('Hello there.')])
  const options = { stream: true, stream_options: { include_usage: true } } as const
  const stream = await openAi(world.hub).chat.completions.create({ ...hi, ...options })
  const chunks = await gather(stream)
  expect(chunks[0]?.choices[0]?.delta).toMatchObject({ role: 'assistant', content: '' })
  const pieces = chunks.flatMap(({ choices }) => choices[0]?.delta.content || [])
  expect(pieces.join('')).toBe('Hello there.')
  expect(chunks.at(-2)?.choices).toMatchObject([{ delta: {}, finish_reason: 'stop' }])
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: USAGE })
})

test('text is streamed before the reply is whole, and a call of a tool is no text', async () => {
  const held = hold(say('Done.'))
  const begins: Turn = (asked, options) => {
    options.onText('I look.')
    return call([['odd__swallow', { any: 'x' }]], 'I look.')(asked, options)
  }
  await using world = await startTalkHub([begins, held.turn], {
    config: JSON.stringify({ servers: { metrics: false, odd: odd().entry } }),
  })
  await untilReady(world.hub, 'odd')
  const stream = await openAi(world.hub).chat.completions.create({ ...hi, stream: true })
  let text = ''
  for await (const { choices } of stream) {
    text += choices[0]?.delta.content ?? ''
    if (text === 'I look.') held.release()
  }
  expect(text).toBe('I look.\n\nDone.')
})

test('a reply that begins anew after a failure is whole at the end', async () => {
  const fails: Turn = (asked, options) => {
    options.onText('Half of')
    return refuse('auth')(asked, options)
  }
  await using world = await startTalkHub([fails])
  const { text } = await postCompletion(world.hub, { ...hi, stream: true })
  expect(textIn(text)).toMatch(/^Half of\n\n.*The provider says auth/s)
})

test('two chats at once are two conversations, and each gets its own answer', async () => {
  const reply: Turn = (asked, options) => {
    const text = asked.messages.findLast(({ role }) => role === 'user')?.text ?? ''
    const [, conversation = ''] =
      /in the conversation (\S+) got no answer|goes to the conversation (\S+)\./
        .exec(text)
        ?.filter(Boolean) ?? []
    return say(`I am in ${conversation}`)(asked, options)
  }
  await using world = await startTalkHub([reply, reply, reply])
  const client = openAi(world.hub)
  const ask = async (chat: string) => {
    const body = { ...hi, user: chat, messages: [user(`I am ${chat}`)], stream: true as const }
    return textOfChunks(await gather(await client.chat.completions.create(body)))
  }
  const texts = await Promise.all(['one', 'two', 'three'].map(ask))
  const own = await conversationsOf(world.hub)
  expect(own).toEqual(Array(3).fill(expect.stringMatching(/^homelab\/mcp-owner\.[0-9a-f]{16}$/)))
  const told = await Promise.all(own.map(id => messagesIn(world.hub, id)))
  for (const [index, chat] of ['one', 'two', 'three'].entries()) {
    const [at] = own.flatMap((id, each) => (told[each]?.[0] === `user: I am ${chat}` ? [id] : []))
    expect(texts[index]).toBe(`I am in ${at}`)
  }
})

test('a second message in the same chat gets its own answer, and nothing of the one before', async () => {
  const held = hold(say('First.'))
  await using world = await startTalkHub([held.turn, say('Second.')])
  const ask = () => openAi(world.hub).chat.completions.create({ ...hi, stream: true })
  const first = await ask()
  await held.begun
  const second = await ask()
  const texts = Promise.all([gather(first), gather(second)])
  held.release()
  expect((await texts).map(textOfChunks)).toEqual(['First.', 'Second.'])
})

test('the same Idempotency-Key gives the same answer, also while the first is awaited', async () => {
  const held = hold(say('Once.'))
  await using world = await startTalkHub([held.turn])
  const client = openAi(world.hub)
  const ask = () => client.chat.completions.create(hi, { headers: { 'Idempotency-Key': 'k1' } })
  const both = [ask(), ask()]
  await held.begun
  held.release()
  const answers = await Promise.all([...both, ask()])
  expect(answers.map(({ choices }) => choices[0]?.message.content)).toEqual(['Once.', 'Once.', 'Once.'])
  expect(new Set(answers.map(({ id }) => id)).size).toBe(1)
  expect(world.model.requests.all).toHaveLength(1)
})

test('long keys that differ only at their end are two', async () => {
  await using world = await startTalkHub([say('One.'), say('Two.')])
  const ask = (end: string) =>
    openAi(world.hub).chat.completions.create(hi, {
      headers: { 'Idempotency-Key': `${'k'.repeat(200)}${end}` },
    })
  const answers = [await ask('a'), await ask('b'), await ask('a')]
  expect(answers.map(({ choices }) => choices[0]?.message.content)).toEqual(['One.', 'Two.', 'One.'])
})

test('an answer fits the JSON schema that is asked for', async () => {
  await using world = await startTalkHub([say('Seven.'), say('{"free": 7}')])
  const schema = { type: 'object', properties: { free: { type: 'integer' } }, required: ['free'] }
  const stream = await openAi(world.hub).chat.completions.create({
    ...hi,
    stream: true,
    response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } },
  })
  const chunks = await gather(stream)
  const text = textOfChunks(chunks)
  expect(JSON.parse(text)).toEqual({ free: 7 })
})

test('an agent that waits for a yes says so, and a command is answered', async () => {
  const agents = { homelab: '---\napprove: ["odd__sw*"]\n---\nYou look after it.\n' }
  const config = JSON.stringify({ servers: { metrics: false, odd: odd().entry } })
  const turns = [call([['odd__swallow', { any: 'x' }]]), say('I asked.')]
  await using world = await startTalkHub(turns, { config, agents })
  const { hub } = world
  await untilReady(hub, 'odd')
  const client = openAi(hub)
  const asked = await client.chat.completions.create(hi)
  expect(asked.choices[0]?.message.content).toMatch(/^I asked\.\n\n\(This waits: .*person's yes/s)
  const stopped = await client.chat.completions.create({ ...hi, messages: [user('/stop')] })
  expect(stopped.choices[0]?.message.content).toMatch(/\w/)
})

test('a client that goes away, or reads slowly, changes nothing of the work', async () => {
  const long = 'x'.repeat(400_000)
  const held = hold(say('After all.'))
  const pieces: Turn = (asked, options) => {
    for (let at = 0; at < long.length; at += 1_000) options.onText(long.slice(at, at + 1_000))
    return { ...say('')(asked, { ...options, onText: () => undefined }), text: long } as ReturnType<Turn>
  }
  await using world = await startTalkHub([held.turn, pieces])
  const { hub } = world
  const left = new AbortController()
  const { signal } = left
  await openAi(hub).chat.completions.create({ ...hi, stream: true, user: 'a' }, { signal })
  await held.begun
  left.abort()
  held.release()
  const [own = ''] = await conversationsOf(hub)
  await until('the agent answers', async () => (await messagesIn(hub, own)).includes('agent: After all.'))
  const headers = { ...bearer(hub.token), 'Content-Type': 'application/json' }
  const slow = request(`${hub.url}/v1/chat/completions`, { method: 'POST', headers, agent: false })
  slow.end(JSON.stringify({ ...hi, stream: true }))
  const [response] = await within('the head', once(slow, 'response'))
  response.pause()
  await hub.logs.find('the end of the work', ({ event }) => event === 'cycle_ended', hub.logs.all.length)
  const parts = await within('the rest', gather<Buffer>(response))
  expect(textIn(Buffer.concat(parts).toString())).toBe(long)
})

test('refusals have the form that clients read, and store nothing', async () => {
  await using world = await startTalkHub()
  const { hub } = world
  const fails = async (work: Promise<unknown>) => {
    const error = await work.then(
      () => expect.fail('It was not refused'),
      each => each,
    )
    expect(error).toBeInstanceOf(APIError)
    const { status, code, type, message } = error as APIError
    return { status, code, type, message }
  }
  const client = openAi(hub)
  const create = (more: object, by = client) => by.chat.completions.create({ ...hi, ...more })
  const type = 'invalid_request_error'
  expect(await fails(openAi({ url: hub.url, token: 'sb_wrong' }).models.list())).toMatchObject({
    status: 401,
    type,
  })
  const other = await fails(create({ model: 'gpt-5' }))
  expect(other).toMatchObject({ status: 404, code: 'not_found', type })
  expect(other.message).toContain('agents: homelab')
  const wrong: [object, RegExp][] = [
    [{ messages: [] }, /last one must be of the role user/],
    [{ messages: [user('hi'), { role: 'assistant', content: 'Half' }] }, /continues no text/],
    [{ messages: [user(' ')] }, /must not be empty/],
    [{ messages: [{ role: 'user', content: [{ type: 'input_audio' }] }] }, /text.*image_url/],
    [
      {
        messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'http://a/b.png' } }] }],
      },
      /picture itself/,
    ],
    [
      { response_format: { type: 'json_schema', json_schema: { schema: { type: 'array' } } } },
      /of an object/,
    ],
  ]
  for (const [more, why] of wrong) {
    const refused = await fails(create(more))
    expect(refused).toMatchObject({ status: 400, type })
    expect(refused.message).toMatch(why)
  }
  expect(await fails(create({ messages: [user('x'.repeat(9_000_000))] }))).toMatchObject({ status: 413 })
  expect((await postCompletion(hub, hi, { Host: 'evil.example' })).status).toBe(403)
  expect((await postCompletion(hub, hi, { Origin: 'http://evil.example' })).status).toBe(403)
  expect(await conversationsOf(hub)).toEqual([])
})

test('each role talks with the agents it may talk with, in conversations of its own', async () => {
  const agents = { homelab: AGENT(false), family: AGENT(true) }
  await using world = await startTalkHub([say('Hi, Gus.'), say('Hi, desk.')], { agents })
  const { hub } = world
  const guest = openAi({ url: hub.url, token: await signIn(hub, await invite(hub, 'gus', 'guest')) })
  expect((await guest.models.list()).data.map(({ id }) => id)).toEqual(['family'])
  await expect(guest.chat.completions.create(hi)).rejects.toMatchObject({ status: 404 })
  await guest.chat.completions.create({ ...hi, model: 'family', user: 'one' })
  const desk = openAi({
    url: hub.url,
    token: await make(hub, 'hub_create_token', { name: 'desk', role: 'client' }),
  })
  await desk.chat.completions.create({ ...hi, user: 'one' })
  const own = await conversationsOf(hub)
  expect(own).toEqual([
    expect.stringMatching(/^family\/mcp-gus\.[0-9a-f]{16}$/),
    expect.stringMatching(/^homelab\/mcp-desk\.[0-9a-f]{16}$/),
  ])
})
