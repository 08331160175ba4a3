import { afterEach, beforeEach, expect, test } from 'vitest'
import { runCli } from '../support/cli.ts'
import { untilReady } from '../support/downstream.ts'
import { delta, line, refuse, SSE, serve } from '../support/provider.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'

type Provider = Awaited<ReturnType<typeof serve>>

let hub: TestHub
let provider: Provider
/** True while the provider accepts requests with tools. */
let takesTools: boolean

/**
 * The provider behaves like vLLM: it lists its models with their contexts, calls the requested tool, and then
 * answers with the word.
 */
beforeEach(async () => {
  takesTools = true
  provider = await serve((response, body, { url }) => {
    if (url === '/v1/models') {
      const list = { object: 'list', data: [{ id: 'qwen3', max_model_len: 65_536, owned_by: 'vllm' }] }
      return void response.writeHead(200).end(JSON.stringify(list))
    }
    const { messages, tools } = JSON.parse(body)
    if (tools && !takesTools) return refuse(response, 400, { message: 'tools are not enabled' })
    const isAnswered = messages.at(-1).role === 'tool'
    const name = /tool (\w+) now/.exec(body)?.[1]
    const call = { index: 0, id: 'c1', type: 'function', function: { name, arguments: '{}' } }
    const pieces = isAnswered
      ? [delta({ content: 'The word ' }), delta({ content: 'is heron.' }), delta({}, 'stop')]
      : [delta({ tool_calls: [call] }), delta({}, 'tool_calls')]
    const usage = { choices: [], usage: { prompt_tokens: Math.ceil(body.length / 4), completion_tokens: 5 } }
    response.writeHead(200, SSE).end([...pieces, usage, '[DONE]'].map(line).join(''))
  })
  hub = await startTestHub({
    config: `model: { default: { baseUrl: "${provider.url}", model: qwen3 } }\n`,
    variables: { MISTRAL_API_KEY: 'sk-never-shown' },
  })
})

afterEach(async () => {
  await hub[Symbol.asyncDispose]()
  await provider[Symbol.asyncDispose]()
})

const run = (args: string[]) => runCli(args, { variables: hub.variables, cwd: hub.folder })

test('models lists what there is, with where each size comes from', async () => {
  const { stdout, code } = await run(['models'])
  expect(stdout).toContain('Keys in the environment: MISTRAL_API_KEY\n')
  expect(stdout).toContain(
    `  default: qwen3 at ${provider.url}\n    context 65536 (provider), reply up to 4096`,
  )
  expect(stdout).not.toContain('never-shown')
  expect(code).toBe(0)
  const { configured } = JSON.parse((await run(['models', '--json'])).stdout)
  expect(configured).toEqual([
    expect.objectContaining({
      name: 'default',
      model: 'qwen3',
      server: 'vllm',
      context: 65_536,
      vision: false,
    }),
  ])
})

test('models says how to connect one where none is configured', async () => {
  hub.writeConfig('servers: { metrics: false }\n')
  const { stdout } = await run(['models'])
  expect(stdout).toMatch(/^On this machine:\n/)
  expect(stdout).toMatch(/\nConfigured:\n {2}none; to connect one, set OPENAI_BASE_URL/)
})

test('models try and doctor send what an agent sends, with the tools of the servers while the hub runs', async () => {
  await untilReady(hub, 'metrics')
  const { stdout, stderr, code } = await run(['models', 'try'])
  expect(stderr).toMatch(/^Trying qwen3 at .* with the prompt of homelab and \d+ tools\.\n$/)
  expect(stdout).toMatch(
    /^ok +calls tools: .*\nok +reads tools' results\n(ok +streams its reply\n)?ok +reads the whole request/,
  )
  expect(stdout).toMatch(/\nAgents can use it\.\n$/)
  expect(code).toBe(0)
  const [first] = provider.bodies.filter(body => body !== '').map(body => JSON.parse(body))
  expect(first.messages[0]).toMatchObject({
    role: 'system',
    content: expect.stringContaining('You look after'),
  })
  const names = first.tools.map((tool: { function: { name: string } }) => tool.function.name)
  expect(names).toEqual(expect.arrayContaining(['schedule_wake', 'get_system_metrics', 'find_tools']))
  expect(names.filter((name: string) => name.startsWith('hub_'))).toEqual([])

  const doctor = await run(['doctor'])
  expect(doctor.stdout).toMatch(/^ok +model default: qwen3 at .* answers and calls tools/m)

  await hub.stop()
  const alone = await run(['models', 'try', 'qwen3', '--json'])
  expect(JSON.parse(alone.stdout)).toMatchObject({
    model: 'qwen3',
    works: true,
    without: expect.stringContaining('No hub runs'),
  })
})

test('models try says how to mend what does not work, and ends with 1', async () => {
  takesTools = false
  const { stdout, code } = await run(['models', 'try'])
  expect(stdout).toMatch(/^PROBLEM .*tools are not enabled/m)
  expect(stdout).toMatch(
    /^PROBLEM answers, but not when it is offered \d+ tools\. Start vLLM with --enable-auto-tool-choice/m,
  )
  expect(code).toBe(1)
  expect((await run(['doctor'])).stdout).toMatch(
    /^PROBLEM model default: qwen3 at .*: answers, but not when/m,
  )
  const none = await run(['models', 'try', 'no-such-model'])
  expect(none).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/There is no model no-such-model\. There is: default/),
  })
})
