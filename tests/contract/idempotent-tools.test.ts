import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { builtIns } from '../../hub/config/built-ins.ts'
import { startFakeProgram } from '../../servers/downloads/testing/fake-programs.ts'
import { type Clock, systemClock, toIsoTime } from '../../servers/kit/clock.ts'
import { ok, startFaultyUpstream } from '../../servers/kit/testing/faulty-upstream.ts'
import { type ServerWorld, startWorld } from '../../servers/kit/testing/server-world.ts'
import { startJellyfin } from '../lab/jellyfin.ts'

/* The hub repeats a call of an idempotent tool after a crash, so the second call must change nothing. */

const NOW = Date.UTC(2026, 10, 22, 12)
/** A clock whose time of day is fixed and whose short waits end at once. */
const hasty: Clock = {
  ...systemClock,
  now: () => NOW,
  after: (delay, run) => systemClock.after(delay < 5000 ? 0 : delay, run),
}

const NZB = Buffer.from('<?xml version="1.0"?><nzb xmlns="x"><file/></nzb>').toString('base64')
const MAGNET = `magnet:?xt=urn:btih:${'d'.repeat(40)}&dn=Lab.New`

/** A server's environment: its settings, and all state that its tools can change. */
interface Ground extends AsyncDisposable {
  environment: Record<string, string>
  state(world: ServerWorld): unknown
}

interface Case {
  server: string
  tool: string
  args: Record<string, unknown>
  /** A call that runs first, so that there is something to change. */
  first?: [string, Record<string, unknown>]
  ground: () => Promise<Ground>
}

function openProgram(kind: Parameters<typeof startFakeProgram>[0]): () => Promise<Ground> {
  return async () => {
    const program = await startFakeProgram(kind)
    const folder = mkdtempSync(join(tmpdir(), 'idempotent-'))
    return {
      environment: { ...program.environment, SUPERBLOOM_DATA: folder },
      state: program.state,
      async [Symbol.asyncDispose]() {
        await program.upstream[Symbol.asyncDispose]()
        rmSync(folder, { recursive: true, force: true })
      },
    }
  }
}

async function openLibrary(): Promise<Ground> {
  const lab = await startJellyfin()
  lab.state.step = 0
  return {
    environment: { JELLYFIN_URL: lab.url, JELLYFIN_API_KEY: lab.apiKey },
    state: () => lab.state.scans,
    [Symbol.asyncDispose]: () => lab[Symbol.asyncDispose](),
  }
}

async function openAlertmanager(): Promise<Ground> {
  const silence = {
    id: 's1',
    status: { state: 'active' },
    matchers: [{ name: 'alertname', value: 'Noise', isRegex: false, isEqual: true }],
    startsAt: toIsoTime(NOW - 1000),
    endsAt: toIsoTime(NOW + 1000),
    updatedAt: toIsoTime(NOW - 1000),
    createdBy: 'ann',
    comment: 'known',
  }
  let ends = 0
  const upstream = await startFaultyUpstream({
    'GET /api/v2/silences': () => ok([silence]),
    'DELETE /api/v2/silence/s1': () => {
      ends += 1
      silence.status.state = 'expired'
      return ok('')
    },
  })
  return {
    environment: { ALERTMANAGER_URL: upstream.url, ENGINE_URL: 'unix:///nowhere/docker.sock' },
    state: () => ({ silence, ends }),
    [Symbol.asyncDispose]: () => upstream[Symbol.asyncDispose](),
  }
}

async function openGame(): Promise<Ground> {
  const process = { command: 'sleep', args: ['600'] }
  return {
    environment: { GAMES_SERVERS: JSON.stringify({ lab: { process } }), GAMES_DISCOVER: 'false' },
    state: async world => (await world.call('get_game_server', { server: 'lab' })).data,
    [Symbol.asyncDispose]: async () => undefined,
  }
}

const show = { download: 'lab show' }
const CASES: Case[] = [
  ...(['sabnzbd', 'qbittorrent', 'transmission'] as const).flatMap(kind => {
    const ground = openProgram(kind)
    const add = kind === 'sabnzbd' ? { file: NZB, fileName: 'Lab.New.nzb' } : { url: MAGNET }
    const calls: [string, Record<string, unknown>, Case['first']?][] = [
      ['pause_downloads', {}],
      ['pause_downloads', { minutes: 5 }],
      ['resume_downloads', {}, ['pause_downloads', { minutes: 5 }]],
      ['pause_download', show],
      ['resume_download', show, ['pause_download', show]],
      ['set_download_speed', { limitMiBps: 2 }],
      ['set_download_speed', { limitMiBps: 0 }],
      ['set_download_priority', { ...show, priority: 'first' }, ['add_download', add]],
      ['set_download_priority', { ...show, priority: 'high' }],
      ['add_download', add],
      ['add_download', { ...add, paused: true }],
      ...(kind === 'sabnzbd'
        ? [['add_download', { url: 'http://indexer/get?id=1', client: 'sabnzbd' }] as [string, object]]
        : []),
    ].map(([tool, args, first]) => [tool, args, first] as [string, Record<string, unknown>, Case['first']?])
    return calls.map(([tool, args, first]) => ({
      server: 'downloads',
      tool,
      args,
      ground,
      ...(first ? { first } : {}),
    }))
  }),
  { server: 'media', tool: 'refresh_library', args: { waitSeconds: 1 }, ground: openLibrary },
  {
    server: 'media',
    tool: 'refresh_library',
    args: { library: 'Films', waitSeconds: 1 },
    ground: openLibrary,
  },
  { server: 'metrics', tool: 'expire_silence', args: { silence: 's1' }, ground: openAlertmanager },
  { server: 'games', tool: 'start_game_server', args: { server: 'lab' }, ground: openGame },
  {
    server: 'games',
    tool: 'stop_game_server',
    args: { server: 'lab' },
    first: ['start_game_server', { server: 'lab' }],
    ground: openGame,
  },
]

async function load(name: string) {
  const builtIn = builtIns.find(one => one.name === name)
  if (!builtIn) throw new Error(`There is no server ${name}.`)
  return builtIn.load()
}

test('every write tool that declares itself idempotent is called twice here', async () => {
  const declared: string[] = []
  for (const { name } of builtIns) {
    await using world = await startWorld(await load(name), {
      clock: hasty,
      environment: {},
      watchers: false,
    })
    for (const { name: tool, annotations } of world.listed()) {
      if (annotations?.idempotentHint && !annotations.readOnlyHint) declared.push(tool)
    }
  }
  const called = new Set(CASES.map(({ tool }) => tool))
  expect(declared.filter(tool => !called.has(tool))).toEqual([])
  expect([...called].filter(tool => !declared.includes(tool))).toEqual([])
})

describe.each(CASES)('$server $tool $args', ({ server, tool, args, first, ground }) => {
  test('the second call changes nothing', async () => {
    await using opened = await ground()
    await using world = await startWorld(await load(server), {
      clock: hasty,
      environment: opened.environment,
      watchers: false,
    })
    if (first) await world.call(...first)
    const untouched = JSON.stringify(await opened.state(world))
    const once = await world.call(tool, args)
    expect(once.isError, once.text).toBe(false)
    const after = JSON.stringify(await opened.state(world))
    // The download may already be the first of the two.
    if (tool !== 'set_download_priority') expect(after).not.toBe(untouched)
    const twice = await world.call(tool, args)
    expect(twice.isError, twice.text).toBe(false)
    expect(JSON.stringify(await opened.state(world))).toBe(after)
  })
})
