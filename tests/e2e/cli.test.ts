import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { openChatSocket } from '../../hub/cli/chat-socket.ts'
import { findHub } from '../../hub/cli/find-hub.ts'
import { createEnvironment } from '../../hub/config/environment.ts'
import { loadConfig } from '../../hub/config/load.ts'
import type { HubFrame } from '../../schemas/chat.ts'
import { openChat } from '../support/chat-client.ts'
import { type Ended, type RunOptions, runCli } from '../support/cli.ts'
import { openClient } from '../support/clients.ts'
import { untilReady } from '../support/downstream.ts'
import { untilNoChildren } from '../support/processes.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { createRecord, until } from '../support/until.ts'

const WRONG_TOKEN = { SUPERBLOOM_TOKEN: 'a-wrong-token-0123456789' }

describe('beside a running hub', () => {
  let hub: TestHub
  beforeAll(async () => {
    hub = await startTestHub({ config: 'timezone: Europe/Berlin\n' })
    await untilReady(hub, 'metrics')
  })
  afterAll(async () => {
    await hub[Symbol.asyncDispose]()
    await untilNoChildren()
  })
  const run = (args: string[], options: RunOptions = {}): Promise<Ended> =>
    runCli(args, { cwd: hub.folder, ...options, variables: { ...hub.variables, ...options.variables } })

  test('status tells a person what runs, and a program with --json', async () => {
    const { code, stdout, stderr } = await run(['status'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(
      /^http:\/\/127\.0\.0\.1:\d+\nsuperbloom \d.*the built-in commands, no language model\nNow: \d+ cycles? running, /,
    )
    expect(stdout).toMatch(/metrics: ready, 10 tools[\s\S]*homelab \(sleeping\): Looks after the homelab/)
    const json = JSON.parse((await run(['status', '--json'])).stdout)
    expect(json).toMatchObject({
      hub: { name: 'superbloom' },
      servers: [{ name: 'metrics', state: 'ready' }],
      agents: [{ name: 'homelab' }],
      problems: [],
    })
  })

  test('ask prints the reply on stdout and the tool activity on stderr', async () => {
    const { code, stdout, stderr } = await run(['ask', 'homelab', 'how', 'is', 'this', 'machine', 'doing?'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/CPU[\s\S]*Memory[\s\S]*Disk/)
    expect(stderr).toContain('get_system_metrics: ok')
    const there = await run(['ask', 'homelab/elsewhere', '/help'])
    expect(there.stdout).toContain('/call')
    await using client = await openClient('sdk 1', hub)
    const read = await client.call('hub_read_messages', { conversation: 'homelab/elsewhere' })
    expect(read.structuredContent).toMatchObject({ lastSeq: 2 })
  })

  test('ask --json prints one object, also of a mistyped command', async () => {
    const replied = await run(['ask', 'homelab/json', '/hlep', '--json'])
    expect(replied.code).toBe(0)
    expect(JSON.parse(replied.stdout)).toEqual({
      conversation: 'homelab/json',
      status: 'replied',
      messageId: expect.stringMatching(/^msg_/),
      reply: expect.stringContaining('Did you mean `/help`?'),
    })
  })

  test('an id may be cut short while one alone begins so', async () => {
    const made = await run(['schedules', 'create', '--delay', '2h', 'soon'])
    const [id = ''] = /^sch_\w+/.exec(made.stdout) ?? []
    expect((await run(['schedules', 'cancel', id.slice(4, 16)])).stdout).toContain(`Cancelled ${id}`)
    await run(['ask', 'homelab/short', 'hello'])
    const [cycle = ''] =
      /\bcyc_\w+/.exec((await run(['threads', 'show', 'homelab', '--limit', '1'])).stdout) ?? []
    expect((await run(['why', cycle.slice(4)])).stdout).toContain(`${cycle} of homelab: done`)
    await run(['tokens', 'create', 'scraper', '--role', 'metrics'])
    const [token = ''] = /\btok_\w+/.exec((await run(['tokens'])).stdout) ?? []
    expect((await run(['tokens', 'revoke', token.slice(4)])).stdout).toBe('Revoked 1 token.\n')
  })

  test('servers tells their health, where they come from and how many tools they have', async () => {
    const { code, stdout } = await run(['servers'])
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^metrics: ready, 10 tools \(built-in, stdio/),
    })
    expect(JSON.parse((await run(['servers', '--json'])).stdout)).toMatchObject({
      servers: [{ name: 'metrics', state: 'ready', tools: 10 }],
    })
  })

  test('events publishes and tells where each went and why', async () => {
    const published = await run(['events', 'publish', 'temp_high', '{"sensor":"attic"}', '--key', 'attic'])
    expect(published).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^evt_\w+ \(ignored\): no agent lists it/),
    })
    const again = await run(['events', 'publish', 'temp_high', '--key', 'attic'])
    const [id = ''] = /^evt_\w+/.exec(published.stdout) ?? []
    expect(again.stdout).toContain(`(held): held behind ${id},`)
    const listed = await run(['events', '--type', 'temp_high', '--status', 'ignored', '--limit', '1'])
    expect(listed.stdout).toMatch(
      new RegExp(`temp_high from mcp:owner \\(${id}\\): ignored, repeated 1 time; no agent lists it`),
    )
    expect((await run(['events', '--status', 'held'])).stdout.trim().split('\n')).toHaveLength(1)
  })

  test('schedules are made, listed by agent and cancelled', async () => {
    const args = ['schedules', 'create', '--agent', 'homelab', '--delay', '2h', '--wake-on', 'server_empty']
    const made = await run([...args, '--', 'look', 'again'])
    expect({ code: made.code, stderr: made.stderr }).toEqual({ code: 0, stderr: '' })
    const [id = ''] = /^sch_\w+/.exec(made.stdout) ?? []
    const line = new RegExp(
      `^${id} homelab: at .*\\(Europe/Berlin\\), or early on server_empty: look again$`,
      'm',
    )
    expect((await run(['schedules', '--agent', 'homelab'])).stdout).toMatch(line)
    expect((await run(['schedules', '--agent', 'another'])).stdout).toBe('No schedules.\n')
    expect((await run(['schedules', 'cancel', id])).stdout).toContain(`Cancelled ${id}`)
    expect((await run(['schedules'])).stdout).not.toContain(id)
  })

  test.each([
    [['events', 'publish', 'x', '{'], 1, /payload must be a JSON object such as/],
    [['events', 'publish', 'x', '[1]'], 1, /payload must be a JSON object such as/],
    [['events', '--status', 'lost'], 1, /Allowed choices are pending/],
    [['events', '--limit', 'x'], 1, /--limit: give a whole number from 1 on; it is x/],
    [['threads', 'show', 'thr_homelab', '--limit', '0'], 1, /--limit: give a whole number/],
    [['threads', '--status', 'lost'], 1, /Allowed choices are active/],
    [['threads', 'show', 'thr_none'], 1, /no thread thr_none; superbloom threads --archived shows/],
    [['approvals', 'deny', 'apr_none'], 1, /no approval apr_none; superbloom approvals --all shows/],
    [['dead-letters', 'retry', 'dl_none'], 1, /dl_none; superbloom dead-letters --all shows/],
    [['schedules', 'create', 'look'], 1, /give exactly one of delay/],
    [['schedules', 'create', 'look', '--delay', 'soon'], 1, /"soon" is not a time span/],
    [['schedules', 'cancel', 'sch_none'], 1, /no pending schedule sch_none; superbloom schedules shows/],
    [['ask', 'nobody', 'hi'], 1, /^superbloom: There is no agent nobody; agents: homelab\n$/],
    [['ask', 'homelab/no way', 'hi'], 1, /^superbloom: hub_chat: conversation: must be/],
    [['ask', 'homelab', 'hi', '--wait', 'x'], 1, /--wait: give seconds/],
    [['ask', 'homelab'], 1, /missing required argument 'text'/],
    [['serve', 'nothing'], 1, /no built-in server nothing; there is: metrics/],
    [['serve', 'metrics', '--http', 'x'], 1, /--http: x is not a port/],
    [['dance'], 1, /unknown command 'dance'[\s\S]*superbloom --help/],
    [['status', '--colour'], 1, /unknown option '--colour'[\s\S]*superbloom status --help/],
    [['chta'], 1, /unknown command 'chta'[\s\S]*Did you mean chat/],
    [['approvals', 'aprove', '1'], 1, /command 'approvals aprove'[\s\S]*Did you mean approvals approve/],
    [['tokens', 'lists'], 1, /unknown command 'tokens lists'[\s\S]*Did you mean tokens list/],
    [['tokens', 'revoke'], 1, /Give the name or id of one/],
    [['why', 'cyc_none'], 1, /no cycle cyc_none; superbloom threads show/],
    [['chat', 'nobody'], 1, /^superbloom: There is no agent for nobody; agents: homelab\n$/],
  ])('%j is refused with words', async (args, code, words) => {
    const ended = await run(args)
    expect(ended.stderr).toMatch(words)
    expect(ended.stderr).not.toMatch(/\n\s+at /)
    expect({ code: ended.code, stdout: ended.stdout }).toEqual({ code, stdout: '' })
  })

  test('chat answers each line of a pipe in turn, and ends with it', async () => {
    const input = '/help\r\n\r\nsuperbloom statsu\r\n/call get_disk_health {}\r\nquit\r\n/never\r\n'
    const { code, stdout, stderr } = await run(['chat'], { input })
    expect(code).toBe(0)
    expect(stderr).toContain('superbloom status is a command of the shell')
    expect(stdout).not.toContain('\r')
    expect(stdout).toMatch(/\/call tool[\s\S]*get_disk_health/)
    expect(stdout).not.toContain('never')
    const wrong = await run(['chat', 'nobody'], { input: 'hi\n' })
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('nobody') })
  })

  test('doctor finds everything well', async () => {
    const { code, stdout } = await run(['doctor'])
    expect(stdout).toMatch(/^ok +config: /)
    for (const part of [
      'agents: homelab',
      'doors: the token',
      'model: the built-in commands',
      'server metrics: ready',
    ]) {
      expect(stdout).toContain(part)
    }
    expect(stdout).toMatch(/All is well\.\n$/)
    expect(code).toBe(0)
  })

  test('a wrong token is told as such by every command', async () => {
    for (const args of [['status'], ['ask', 'homelab', 'hi'], ['chat'], ['doctor']]) {
      const { code, stdout, stderr } = await run(args, { variables: WRONG_TOKEN, input: 'hi\n' })
      expect(stdout + stderr, args.join(' ')).toMatch(/does not take this token: SUPERBLOOM_TOKEN/)
      expect(stderr).not.toMatch(/\n\s+at /)
      expect(code).toBe(1)
    }
  })

  test('config shows each value with where it came from, and no secret', async () => {
    const variables = {
      OPENAI_API_KEY: 'sk-never-shown',
      SUPERBLOOM_MODEL: 'qwen3',
      OPENAI_BASE_URL: 'http://localhost:1/v1',
    }
    const { code, stdout } = await run(['config'], {
      variables: { ...variables, SUPERBLOOM_TOKEN: 'never-shown-either' },
    })
    expect(code).toBe(0)
    expect(stdout).toContain(`timezone: "Europe/Berlin"  # ${hub.configFile}`)
    expect(stdout).toContain(`dataFolder: "${hub.dataFolder}"  # SUPERBLOOM_DATA`)
    expect(stdout).toMatch(/port: 8420 {2}# default/)
    expect(stdout).toMatch(/hosts: \[\] {2}# default/)
    expect(stdout).toMatch(/concurrency: 8 {2}# default/)
    expect(stdout).toMatch(
      /tools: .* {2}# default\ntoolsets: {} {2}# default\nbudget: {} {2}# default\nretention: .*365.* {2}# default/,
    )
    expect(stdout).toMatch(/model: .*qwen3.*# SUPERBLOOM_MODEL/)
    expect(stdout).not.toMatch(/never-shown/)
  })

  test('config schema is a JSON Schema that knows the keys', async () => {
    const schema = JSON.parse((await run(['config', 'schema'])).stdout)
    expect(schema).toMatchObject({ type: 'object', additionalProperties: false })
    expect(Object.keys(schema.properties)).toEqual(
      expect.arrayContaining(['servers', 'mcpServers', 'model', 'hosts']),
    )
  })

  test('the chat of a terminal reconnects, sends again what nobody took, and sees what it missed', async () => {
    const environment = createEnvironment(hub.variables)
    const frames = createRecord<HubFrame>()
    const states = createRecord<string>()
    const find = () => findHub(loadConfig(environment))
    using socket = openChatSocket(find, 'homelab/terminal', {
      onFrame: frame => frames.add(frame),
      onState: state => states.add(state),
      onRefused: why => states.add(why),
    })
    await states.find('it is connected', state => state === 'connected')
    await hub.stop()
    await states.find('it is lost', state => state === 'lost')
    socket.send('/help')
    await hub.start()
    await states.find('it is connected again', state => state === 'connected', 1)
    const accepted = await frames.find('the message is taken', frame => frame.type === 'accepted')
    await frames.find('its answer comes', frame => frame.type === 'message' && frame.message.kind === 'agent')
    using chat = await openChat(hub)
    await chat.subscribe('homelab/terminal', 0)
    await until('all messages are there', () => chat.messages.length >= 2)
    expect(chat.messages[0]).toEqual(accepted.type === 'accepted' && accepted.message)
    expect(chat.messages).toHaveLength(2)
  })

  test('the chat of a terminal does not knock for ever with a wrong token', async () => {
    const refused = Promise.withResolvers<string>()
    using _socket = openChatSocket(() => ({ url: hub.url, token: 'wrong' }), 'homelab', {
      onFrame: () => undefined,
      onState: () => undefined,
      onRefused: refused.resolve,
    })
    expect(await refused.promise).toMatch(/does not take this token/)
  })
})

describe('without a hub', () => {
  let hub: TestHub
  afterEach(() => hub[Symbol.asyncDispose]())

  test('every command says so and how to start one', async () => {
    hub = await startTestHub()
    await hub.stop()
    for (const args of [['status'], ['ask', 'homelab', 'hi'], ['chat'], ['chat', 'homelab']]) {
      const { code, stderr } = await runCli(args, { variables: hub.variables, input: 'hi\n' })
      expect(stderr, args.join(' ')).toMatch(
        /^superbloom: No hub runs on the data folder .* "superbloom start"/,
      )
      expect(code).toBe(1)
    }
    const doctor = await runCli(['doctor'], { variables: hub.variables })
    expect(doctor).toMatchObject({ code: 0, stdout: expect.stringMatching(/warning hub: No hub runs/) })
  })

  test('a hub.json that was left behind by another program is no hub', async () => {
    hub = await startTestHub()
    await hub.stop()
    const left = (pid: number) => JSON.stringify({ pid, url: 'http://127.0.0.1:9', startedAt: 1 })
    writeFileSync(join(hub.dataFolder, 'hub.json'), left(process.pid))
    for (const args of [['status'], ['ask', 'homelab', 'hi'], ['chat', 'homelab']]) {
      const { code, stderr } = await runCli(args, { variables: hub.variables, input: 'hi\n' })
      expect(stderr, args.join(' ')).toMatch(
        /^superbloom: The hub at http:\/\/127\.0\.0\.1:9 does not answer/,
      )
      expect(code).toBe(1)
    }
    writeFileSync(join(hub.dataFolder, 'hub.json'), left(2 ** 22 + 1))
    expect((await runCli(['status'], { variables: hub.variables })).stderr).toMatch(/No hub runs/)
    writeFileSync(join(hub.dataFolder, 'hub.json'), '{"half')
    expect((await runCli(['status'], { variables: hub.variables })).stderr).toMatch(/No hub runs/)
  })

  test('doctor says what is wrong and how to mend it', async () => {
    hub = await startTestHub()
    await hub.stop()
    hub.writeAgent('broken', '---\nstepz: 1\n---\nYou are broken.\n')
    const { code, stdout } = await runCli(['doctor'], { variables: hub.variables })
    expect(stdout).toMatch(/PROBLEM agents: .*broken\.md:2: stepz: no such key/)
    expect(stdout).toMatch(/1 to mend\.\n$/)
    expect(code).toBe(1)
  })
})
