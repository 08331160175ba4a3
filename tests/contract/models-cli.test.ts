import { afterEach, beforeEach, expect, test } from 'vitest'
import { runCli } from '../support/cli.ts'
import { untilReady } from '../support/downstream.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { serveTrialProvider } from '../support/trial-provider.ts'

let hub: TestHub
let provider: Awaited<ReturnType<typeof serveTrialProvider>>
/** True while the provider accepts requests with tools. */
let takesTools: boolean

beforeEach(async () => {
  takesTools = true
  provider = await serveTrialProvider(() => takesTools)
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
