import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { serve } from '../kit/serve.ts'
import { CLIENT_KINDS, connectClient, type Target, within } from '../kit/testing/clients.ts'
import { createFixtureHost, type FixtureHost } from './machine/fixture-host.ts'
import { metrics } from './server.ts'

const SERVER = fileURLToPath(new URL('./server.ts', import.meta.url))
const TOKEN = 'a-token-for-tests'
/** Thresholds so low that this machine's normal use exceeds them. */
const LOW = { METRICS_INTERVAL: '100ms', METRICS_MEMORY_PERCENT: '1', METRICS_MEMORY_SUSTAIN: '0s' }

/**
 * Tools that this test calls; OTHERS need their own settings, or find containers of the machine, and have
 * other tests.
 */
const OWN = ['get_system_metrics', 'get_processes', 'get_disk_health']
const OTHERS = [
  'get_container_status',
  'get_container_logs',
  'restart_container',
  'query_prometheus',
  'get_alerts',
  'silence_alert',
  'expire_silence',
]
const CHANGING = ['restart_container', 'silence_alert', 'expire_silence']

const stdio = (env: Record<string, string> = {}): Target => ({
  kind: 'stdio',
  command: process.execPath,
  args: [SERVER],
  env,
})

let host: FixtureHost
beforeEach(() => {
  host = createFixtureHost()
})
afterEach(() => host[Symbol.dispose]())

/** Defines the tests that are the same on both transports. */
function onBoth(
  transport: string,
  open: (env: Record<string, string>) => Promise<{ target: Target } & AsyncDisposable>,
) {
  describe.each(CLIENT_KINDS)(`over ${transport}, the client %s`, kind => {
    test('lists and calls each tool; structured content fits the output schema', async () => {
      await using opened = await open({})
      await using client = await connectClient(kind, opened.target)
      const tools = await client.listTools()
      expect(tools.map(tool => tool.name)).toEqual([...OWN, ...OTHERS])
      for (const tool of tools) {
        expect(tool).toMatchObject({
          annotations: {
            readOnlyHint: !CHANGING.includes(tool.name),
            destructiveHint: tool.name === 'restart_container',
            openWorldHint: false,
          },
          outputSchema: { type: 'object' },
        })
      }
      for (const tool of tools.filter(({ name }) => OWN.includes(name))) {
        const result = await client.call(tool.name)
        expect(result).toMatchObject({ isError: false, structured: expect.any(Object) })
        expect(result.text).not.toBe('')
      }
    })

    test('the first figures are real', async () => {
      await using opened = await open({})
      await using client = await connectClient(kind, opened.target)
      const { structured, text } = await client.call('get_system_metrics')
      expect(text).toMatch(/^CPU \d+(\.\d)? % of \d+ cores? over \d/m)
      expect(structured).toMatchObject({
        cpu: { percent: expect.any(Number), cores: expect.any(Number) },
        disks: expect.arrayContaining([expect.objectContaining({ mount: '/' })]),
      })
      const processes = await client.call('get_processes', { name: 'node', limit: 100 })
      expect(processes.text).toMatch(/^\d+ node: CPU \d+/m)
    })

    test('reads an event that was raised at the start', async () => {
      await using opened = await open(LOW)
      await using client = await connectClient(kind, opened.target)
      expect(await client.listUris()).toEqual([
        'events://metrics',
        'health://metrics',
        'events://metrics{?after}',
      ])
      await client.call('get_disk_health')
      const feed = await client.readEvents('events://metrics')
      expect(feed.events[0]).toMatchObject({
        seq: 1,
        type: 'memory_high',
        payload: { threshold: 1, percent: expect.any(Number) },
      })
      expect((await client.readEvents(`events://metrics?after=${feed.cursor}`)).events).toEqual([])
    })

    test('subscribes, and hears of a sensor that gets hot, once', async () => {
      await using opened = await open({ METRICS_INTERVAL: '50ms', METRICS_HOST_ROOT: host.root })
      await using client = await connectClient(kind, opened.target)
      await client.subscribe('events://metrics')
      expect((await client.readEvents('events://metrics')).events.map(({ type }) => type)).not.toContain(
        'temp_high',
      )
      host.setTemperature(95)
      expect(await client.nextUpdate()).toBe('events://metrics')
      const hot = async () =>
        (await client.readEvents('events://metrics')).events.filter(({ type }) => type === 'temp_high')
      expect(await hot()).toMatchObject([
        {
          key: 'temp_high:nas:coretemp Package id 0',
          payload: { host: 'nas', sensor: 'coretemp Package id 0', temp: 95, threshold: 80 },
        },
      ])
      host.setTemperature(40)
      await client.call('get_disk_health')
      expect(await hot()).toHaveLength(1)
    })
  })
}

onBoth('stdio', async env => ({ target: stdio(env), [Symbol.asyncDispose]: async () => undefined }))
onBoth('HTTP', async environment => {
  const served = await serve(metrics, {
    transport: { kind: 'http', port: 0, token: TOKEN },
    environment,
    log: () => undefined,
  })
  return {
    target: { kind: 'http', url: served.url ?? '', token: TOKEN },
    [Symbol.asyncDispose]: () => served[Symbol.asyncDispose](),
  }
})

describe('the process', () => {
  function start(env: Record<string, string> = {}) {
    const child = spawn(process.execPath, [SERVER], { env })
    let stderr = ''
    child.stderr.on('data', chunk => {
      stderr += chunk
    })
    const ended = once(child, 'exit') as Promise<[number | null, string | null]>
    const initialize = {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } },
    }
    return {
      child,
      ended: within('the end of the process', ended),
      stderr: () => stderr,
      async initialize() {
        child.stdin.write(`${JSON.stringify(initialize)}\n`)
        await within('the answer', once(child.stdout, 'data'))
      },
    }
  }

  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('ends in order on %s', async signal => {
    const { child, ended, initialize, stderr } = start()
    await initialize()
    child.kill(signal)
    expect(await ended).toEqual([0, null])
    expect(stderr()).toBe('')
  })

  test('ends in order when its client goes away, even in the middle of a call', async () => {
    const { child, ended, initialize, stderr } = start()
    await initialize()
    const call = {
      jsonrpc: '2.0',
      id: 2,
      method: 'tools/call',
      params: { name: 'get_processes', arguments: {} },
    }
    child.stdin.write(`${JSON.stringify(call)}\n`)
    child.stdin.end()
    expect(await ended).toEqual([0, null])
    expect(stderr()).toBe('')
  })

  test('ends with 78 and says why where a setting is wrong', async () => {
    const { ended, stderr } = start({ METRICS_CPU_PERCENT: 'much', METRICS_INTERVAL: '0' })
    expect(await ended).toEqual([78, null])
    expect(stderr()).toMatch(
      /^metrics: METRICS_INTERVAL is "0", but it must be .*\nMETRICS_CPU_PERCENT is "much"/,
    )
  })

  test('ends with 78 where the host root holds no system', async () => {
    const { ended, stderr } = start({ METRICS_HOST_ROOT: '/nowhere' })
    expect(await ended).toEqual([78, null])
    expect(stderr()).toContain('mount the host')
  })
})
