import { z } from 'zod'
import { power } from './power.ts'

/* These shapes are the house at a glance: tiles of what tools read, and of what agents show. */

const tone = z.enum(['good', 'warn', 'bad'])
export type Tone = z.infer<typeof tone>

const tileRow = z.object({
  name: z.string(),
  text: z.string(),
  percent: z.number().optional().describe('0 to 100, to be drawn as a bar'),
  tone: tone.optional(),
})
export type TileRow = z.infer<typeof tileRow>

const tile = z.object({
  id: z.string(),
  title: z.string(),
  source: z.string().describe('the tool or the agent that it comes from'),
  state: z
    .enum(['ok', 'waiting', 'failed'])
    .describe(
      'waiting: it is being read; the rows of waiting and failed ones are those of the reading before',
    ),
  reason: z.string().optional().describe('why it could not be read'),
  at: z.number().optional().describe('when its rows were read; unix milliseconds'),
  summary: z.string().optional(),
  rows: z.array(tileRow),
  more: z.int().optional().describe('rows that are not shown'),
  text: z.string().optional().describe('of an agent, or of a tool whose fields the hub does not know'),
  power: power
    .optional()
    .describe('of an agent: the power of the work that wrote it, where strangers began it'),
})
export type Tile = z.infer<typeof tile>

/** The result of `hub_read_house`. */
export const house = z.object({ tiles: z.array(tile) })
export type House = z.infer<typeof house>

/** A tile of the config. */
const dashboardTile = z.strictObject({
  tool: z.string().min(1).describe('its name in the hub; one that only reads'),
  arguments: z.record(z.string(), z.unknown()).default({}),
  title: z.string().min(1).max(100).optional(),
})
export type DashboardTile = z.infer<typeof dashboardTile>

/** A chart of the config. */
const dashboardChart = z.strictObject({
  title: z.string().min(1).max(100),
  query: z.string().min(1).max(2_000).describe('PromQL'),
  unit: z.string().max(10).optional(),
})
export type DashboardChart = z.infer<typeof dashboardChart>

export const dashboard = z
  .strictObject({
    tiles: z.array(dashboardTile).max(40).default([]),
    charts: z.array(dashboardChart).max(20).default([]),
  })
  .prefault({})

/** Beginning of the keys under which agents store what the house shows; the rest is the title. */
export const TILE_KEY = 'house/'
