import { expect, test } from 'vitest'
import { openChat } from '../support/chat-client.ts'
import { runCli } from '../support/cli.ts'
import { openClient, textOf } from '../support/clients.ts'
import { call, createScriptedModel, say, type Turn } from '../support/scripted-model.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { until } from '../support/until.ts'

const agents = {
  anna: '---\ndescription: Minds the fans\nconversations: [family, anna]\n---\nYou mind the fans.\n',
  ben: '---\nconversations: [family]\nevents: [{ type: temp_high, as: task }]\n---\nYou mind the heat.\n',
}

/** Answers by the end of the window. */
const policy: Turn = (request, options) => {
  const last = request.messages.at(-1)
  const text = last?.text ?? ''
  if (request.system.includes('The task:')) return say('It was the dust.')(request, options)
  if (text.includes('look into it'))
    return call([['create_task', { instructions: 'Look at the fan.' }]])(request, options)
  const name = /name here is (\w+)/.exec(request.system)?.[1]
  const said = text.includes('is complete') ? 'the fan was dusty' : `${name} here`
  return say(said)(request, options)
}

const startHub = () =>
  startTestHub({
    agents,
    overrides: { model: createScriptedModel(Array.from({ length: 60 }, () => policy)) },
  })

async function requester(hub: TestHub) {
  const client = await openClient('sdk 2, 2026-07-28', hub)
  const ask = async (name: string, args: Record<string, unknown> = {}) => {
    const result = await client.call(name, args)
    expect(result.isError, textOf(result)).toBeFalsy()
    return result.structuredContent as Record<string, unknown>
  }
  return { ask, client, [Symbol.asyncDispose]: () => client[Symbol.asyncDispose]() }
}

test('a task, from the chat to the audit', async () => {
  await using hub = await startHub()
  await using mcp = await requester(hub)
  using chat = await openChat(hub)
  await chat.subscribe('anna')
  const asked = await chat.say('anna', 'look into it')
  await chat.answerTo(asked)
  await chat.next('message', ({ message }) => message.text === 'the fan was dusty')
  const listed = await mcp.ask('hub_list_threads', { agent: 'anna' })
  expect(listed).toMatchObject({
    threads: [
      { id: 'thr_anna', kind: 'main', depth: 0, cycles: 2 },
      {
        kind: 'task',
        status: 'complete',
        parent: 'thr_anna',
        instructions: 'Look at the fan.',
        summary: 'It was the dust.',
        conversation: 'anna',
        cycles: 1,
        pending: 0,
      },
    ],
  })
  const main = await mcp.ask('hub_read_thread', { thread: 'thr_anna' })
  expect(main).toMatchObject({
    thread: { id: 'thr_anna' },
    cycles: [
      {
        status: 'done',
        replyTo: 'anna',
        tokens: { input: 20, output: 10, cached: 0 },
        inbox: [{ text: expect.stringContaining('look into it') }],
        steps: [
          { step: 1, calls: [{ tool: 'create_task', status: 'ok' }] },
          { step: 2, calls: [] },
        ],
      },
      { status: 'done', inbox: [{ text: expect.stringContaining('It was the dust.') }] },
    ],
  })
  const cycles = (main as { cycles: { id: string }[] }).cycles.map(({ id }) => id)
  const later = await mcp.ask('hub_read_thread', { thread: 'thr_anna', after: cycles[0], limit: 5 })
  expect(later).toMatchObject({ cycles: [{ id: cycles[1] }] })
  const newest = await mcp.ask('hub_read_thread', { thread: 'thr_anna', limit: 1 })
  expect(newest).toMatchObject({ cycles: [{ id: cycles[1] }] })
  const wrong = await mcp.client.call('hub_read_thread', { thread: 'thr_nobody' })
  expect(textOf(wrong)).toContain('There is no thread thr_nobody')
  const figures = await mcp.ask('hub_list_agents')
  expect(figures).toMatchObject({
    agents: [
      { name: 'anna', threads: 2, pending: 0, cycles: 3, tokensToday: 60 },
      { name: 'ben', threads: 0, cycles: 0, lastCycleAt: null, windowTokens: 0 },
    ],
  })
  const [anna] = (figures as { agents: { windowTokens: number }[] }).agents
  expect(anna?.windowTokens).toBeGreaterThan(50)
})

test('an event of an agent file makes a task, whose summary waits', async () => {
  await using hub = await startHub()
  await using mcp = await requester(hub)
  const { routedTo } = (await mcp.ask('hub_publish_event', { type: 'temp_high' })) as { routedTo: string[] }
  expect(routedTo).toEqual([expect.stringMatching(/^thr_ben\.task_/)])
  const ended = await until('the task has ended', async () => {
    const { threads } = await mcp.ask('hub_list_threads', { status: 'complete' })
    return (threads as { id: string }[]).find(({ id }) => id === routedTo[0])
  })
  expect(ended).toMatchObject({ summary: 'It was the dust.', agent: 'ben' })
  expect(await mcp.ask('hub_list_agents')).toMatchObject({
    agents: [{ name: 'anna' }, { name: 'ben', pending: 1, cycles: 1, threads: 2 }],
  })
})

test('a conversation of two agents: @name says who answers, and hub_chat waits for all', async () => {
  await using hub = await startHub()
  await using mcp = await requester(hub)
  using chat = await openChat(hub)
  await chat.subscribe('family')
  expect(await chat.ask('family', 'hello')).toMatchObject({ author: 'anna', text: 'anna here' })
  expect(await chat.ask('family', 'and @ben?')).toMatchObject({ author: 'ben', text: 'ben here' })
  const both = await mcp.ask('hub_chat', { conversation: 'family', message: '@anna @ben?' })
  expect(both).toMatchObject({ status: 'replied', reply: 'anna here\n\nben here' })
  const answers = () => chat.messages.filter(({ kind }) => kind === 'agent').map(({ author }) => author)
  await until('all four answers', () => answers().length >= 4)
  expect(answers().sort()).toEqual(['anna', 'anna', 'ben', 'ben'])
  expect(chat.frames.all[0]).toMatchObject({
    conversations: expect.arrayContaining([{ id: 'family', agents: ['anna', 'ben'], lastSeq: 0 }]),
  })
})

test('the command line lists agents and threads, and shows one', async () => {
  await using hub = await startHub()
  using chat = await openChat(hub)
  await chat.subscribe('anna')
  await chat.say('anna', 'look into it')
  await chat.next('message', ({ message }) => message.text === 'the fan was dusty')
  const run = (...args: string[]) => runCli(args, { cwd: hub.folder, variables: hub.variables })
  const listed = await run('agents')
  expect(listed.stdout).toMatch(
    /^anna \(sleeping\): Minds the fans\n {2}2 threads, 0 inbox items waiting, 3 cycles, last ran /,
  )
  expect(JSON.parse((await run('agents', '--json')).stdout)).toMatchObject({ agents: [{ name: 'anna' }, {}] })
  const threads = await run('threads', '--agent', 'anna')
  expect(threads.stdout).toMatch(
    /^thr_anna sleeping, 2 cycles, last active \S+: main thread\nthr_anna\.task_\S+ complete/,
  )
  expect((await run('threads', '--agent', 'ben')).stdout).toBe('No threads.\n')
  const shown = await run('threads', 'show', 'thr_anna', '--limit', '2')
  expect(shown.stdout).toMatch(/create_task \{"instructions":"Look at the fan\."\} → ok: Started the task/)
  const wrong = await run('threads', 'show', 'thr_x')
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('no thread thr_x') })
})
