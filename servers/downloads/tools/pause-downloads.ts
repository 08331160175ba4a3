import { z } from 'zod'
import { toCountText, toSpanText } from '../../kit/text.ts'
import { defineTool, type Tool } from '../../kit/tool.ts'
import type { State } from '../state.ts'
import { clientField, type NamedClient, pickClients } from '../upstreams/clients.ts'
import { REVERSIBLE, type ToolDeps } from './deps.ts'
import { failedClient, onClients, withFailed } from './on-clients.ts'
import { isAtRest, requireShown } from './until-shown.ts'

const MINUTE = 60_000
const WEEK = 7 * 24 * 60
/** Milliseconds below which two ends count as equal: the call was repeated. */
const SAME_END = MINUTE / 2

const output = z.object({
  paused: z.array(
    z.object({
      client: z.string(),
      resumesAt: z.number().optional().describe('when it goes on by itself, unix milliseconds'),
      stopped: z
        .int()
        .optional()
        .describe('how many downloads were stopped, where a client pauses each by itself'),
      keeper: z
        .enum(['client', 'server', 'memory'])
        .optional()
        .describe(
          'who ends the pause: the client; this server, after a restart too; this server, unless it restarts',
        ),
    }),
  ),
  failed: z.array(failedClient).describe('clients that were not paused'),
})
type Paused = z.input<typeof output>['paused'][number]

/** `pause_downloads`: pauses everything, for a time or until it is resumed. */
export function pauseDownloads(deps: ToolDeps): Tool {
  return defineTool({
    name: 'pause_downloads',
    title: 'Pause all downloads',
    description:
      'Pauses all downloads, in every download client or one, for some minutes or until resume_downloads. ' +
      'Frees the line or the disk; nothing is lost. Complete torrents go on being shared; a torrent added ' +
      'later is not held.',
    annotations: REVERSIBLE,
    input: z.strictObject({
      minutes: z.int().min(1).max(WEEK).optional().describe('then it goes on by itself'),
      client: clientField(deps.clients),
    }),
    output,
    async run({ minutes, client }, signal) {
      const picked = pickClients(deps.clients, client)
      const { done, failed } = await onClients(picked, 'No download client was paused.', named =>
        pauseAll(deps, named, minutes, signal),
      )
      const paused = done.map(({ name, value }): Paused => ({ client: name, ...value }))
      return withFailed(
        { paused },
        paused.map(one => toText(one, minutes)),
        failed,
      )
    },
  })
}

async function pauseAll(
  { state, clock }: ToolDeps,
  named: NamedClient,
  minutes: number | undefined,
  signal: AbortSignal,
): Promise<Omit<Paused, 'client'>> {
  named.require('change')
  const { name } = named
  const waiting = { client: named, clock, signal }
  const wanted = minutes === undefined ? undefined : clock.now() + minutes * MINUTE
  const known = wanted === undefined ? undefined : await findSameEnd(state, named, wanted, signal)
  const resumesAt = known ?? wanted
  if (named.ownTimer) {
    if (known === undefined) await named.pauseAll({ minutes }, signal)
    await requireShown(waiting, 'it is paused', ({ paused }) => paused)
    return resumesAt === undefined ? {} : { resumesAt, keeper: 'client' }
  }
  const ids = (await named.pauseAll({}, signal)) ?? []
  const before = state.pauses.get(name)?.ids ?? []
  if (resumesAt === undefined) state.pauses.delete(name)
  else state.pauses.set(name, { until: resumesAt, ids: [...new Set([...before, ...ids])] })
  const isKept = state.save()
  await requireShown(waiting, 'it is paused', isAtRest)
  const stopped = ids.length
  return resumesAt === undefined ? { stopped } : { stopped, resumesAt, keeper: isKept ? 'server' : 'memory' }
}

/** Returns the end of an equal pause that was set a moment ago; undefined if there is none. */
async function findSameEnd(
  { pauses }: State,
  { name, ownTimer, readSnapshot }: NamedClient,
  wanted: number,
  signal: AbortSignal,
): Promise<number | undefined> {
  const ends = ownTimer ? (await readSnapshot(signal)).resumesAt : pauses.get(name)?.until
  return ends !== undefined && Math.abs(ends - wanted) < SAME_END ? ends : undefined
}

function toText({ client, stopped, keeper }: Paused, minutes: number | undefined): string {
  const count = stopped === undefined ? '' : ` (${toCountText(stopped, 'download')} stopped)`
  const span = minutes === undefined ? '' : ` for ${toSpanText(minutes * 60)}`
  const note =
    keeper === 'memory'
      ? ' If this server restarts before that, it stays paused: set DOWNLOADS_STATE to a file that it can write.'
      : ''
  return `${client} is paused${span}${count}.${note}`
}
