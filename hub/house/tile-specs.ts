import type { Tone } from '../../schemas/house.ts'

/**
 * A text with fields of a result: `{path}` or `{path:unit}`, where `.` is the item itself. A text one of whose fields
 * is absent, empty or false is left out; of texts with `|` in between the first whole one counts.
 */
export type Template = string

/** Tells a row's tone by a field: from a number on, by one of some words, or `true` where it is there at all. */
export type ToneRule = { of: string } & { [tone in Tone]?: number | readonly string[] | true }

export interface RowSpec {
  /** Path of a list whose items are rows; without one the result is one row. */
  list?: string
  name: Template
  text: readonly Template[]
  /** Path of 0 to 100. */
  bar?: string
  /** The first rule that fits counts. */
  tones?: readonly ToneRule[]
}

/** How the result of a tool becomes a tile. */
export interface TileSpec {
  server: string
  tool: string
  title: Template
  arguments?: Record<string, unknown>
  /** Milliseconds that a reading is good for. */
  every: number
  summary?: Template
  rows: readonly RowSpec[]
  /** Words for a result without rows, which has no tile otherwise. */
  none?: string
  /** Path of a list of further values of an argument, each with a tile of its own. */
  each?: { argument: string; list: string }
}

const SECOND = 1_000
const OFTEN = 10 * SECOND
const SELDOM = 600 * SECOND

const failedOf = (list: string, name: Template, why: Template): RowSpec => ({
  list,
  name,
  text: [why],
  tones: [{ of: '.', bad: true }],
})

/** The tools of the built-in servers that have a tile, in the order of the house. */
export const TILE_SPECS: readonly TileSpec[] = [
  {
    server: 'metrics',
    tool: 'get_alerts',
    title: 'Alerts',
    every: 3 * OFTEN,
    summary: '{counts.firing} firing',
    rows: [
      {
        list: 'alerts',
        name: '{name}',
        text: ['{state}', '{severity}', '{summary}'],
        tones: [{ of: 'state', bad: ['firing'], warn: ['pending'] }],
      },
      failedOf('failed', '{source}', '{reason}'),
    ],
    none: 'Nothing is wrong.',
  },
  {
    server: 'metrics',
    tool: 'get_system_metrics',
    title: '{host}|This machine',
    every: OFTEN,
    rows: [
      {
        name: 'CPU',
        text: ['{cpu.percent:percent}', 'load {cpu.load.one}'],
        bar: 'cpu.percent',
        tones: [{ of: 'cpu.percent', warn: 80, bad: 95 }],
      },
      {
        name: 'Memory',
        text: ['{memory.percent:percent}', '{memory.availableBytes:bytes} free'],
        bar: 'memory.percent',
        tones: [{ of: 'memory.percent', warn: 85, bad: 95 }],
      },
      {
        list: 'disks',
        name: '{mount}',
        text: ['{percent:percent}', '{freeBytes:bytes} free'],
        bar: 'percent',
        tones: [{ of: 'percent', warn: 85, bad: 95 }],
      },
      { list: 'silentMounts', name: '{.}', text: ['does not answer'], tones: [{ of: '.', bad: true }] },
      {
        list: 'temperatures',
        name: '{sensor}',
        text: ['{celsius:celsius}'],
        tones: [{ of: 'celsius', warn: 75, bad: 85 }],
      },
      { name: 'Up for', text: ['{uptimeSeconds:span}'] },
    ],
    each: { argument: 'host', list: 'otherHosts' },
  },
  {
    server: 'metrics',
    tool: 'get_disk_health',
    title: 'Drives',
    every: SELDOM,
    summary: '{note}',
    rows: [
      {
        list: 'drives',
        name: '{model}|{device}',
        text: ['{health}', '{celsius:celsius}', '{wearPercent:percent} worn', '{warnings}'],
        tones: [{ of: 'health', good: ['ok'], warn: ['warning'], bad: ['failing'] }],
      },
    ],
  },
  {
    server: 'metrics',
    tool: 'get_container_status',
    title: 'Containers',
    arguments: { use: false },
    every: OFTEN,
    summary: '{counts.running} of {counts.all} running',
    rows: [
      {
        list: 'containers',
        name: '{name}',
        text: ['{problem}|{state}', '{health}'],
        tones: [
          { of: 'problem', bad: true },
          { of: 'state', good: ['running'] },
        ],
      },
      failedOf('failed', '{source}', '{reason}'),
    ],
    none: 'There is no container.',
  },
  {
    server: 'games',
    tool: 'list_game_servers',
    title: 'Game servers',
    every: OFTEN,
    rows: [
      {
        list: 'servers',
        name: '{title}|{server}',
        text: ['{state}', '{players} of {maxPlayers} play|{players} play', '{names}'],
        tones: [
          { of: 'state', good: ['running'], warn: ['starting', 'missing', 'unknown'], bad: ['failed'] },
        ],
      },
      failedOf('problems', 'Problem', '{.}'),
    ],
    none: 'There is no game server.',
  },
  {
    server: 'downloads',
    tool: 'get_download_status',
    title: 'Downloads',
    every: OFTEN,
    rows: [
      {
        list: 'clients',
        name: '{client}',
        text: ['{paused:=paused}|{bytesPerSecond:rate}', '{downloads} to go', '{freeBytes:bytes} free'],
        tones: [{ of: 'paused', warn: true }],
      },
      {
        list: 'downloads',
        name: '{name}',
        text: ['{percent:percent}', '{etaSeconds:span} left|{state}', '{reason}'],
        bar: 'percent',
        tones: [{ of: 'state', warn: ['stalled', 'paused'], bad: ['failed'] }],
      },
      failedOf('failed', '{client}', '{reason}'),
    ],
    none: 'There is no download client.',
  },
  {
    server: 'media',
    tool: 'get_jellyfin_sessions',
    title: 'Playing',
    every: OFTEN,
    rows: [
      {
        list: 'playing',
        name: '{title}',
        text: ['{user}', '{device}', '{paused:=paused}', '{delivery}'],
        tones: [{ of: 'delivery', warn: ['transcode'] }],
      },
    ],
    none: 'Nothing plays.',
  },
  {
    server: 'media',
    tool: 'get_upcoming',
    title: 'Coming',
    every: SELDOM,
    rows: [
      {
        list: 'items',
        name: '{title}',
        text: ['{day}', '{what}', '{hasFile:=there already}'],
        tones: [{ of: 'hasFile', good: true }],
      },
      failedOf('unknown', '{upstream}', '{why}'),
    ],
    none: 'Nothing in the next days.',
  },
]
