import { z } from 'zod'
import { foreignText } from '../../kit/foreign.ts'
import { pickInstance } from '../../kit/instances.ts'
import type { Text } from '../../kit/render.ts'
import { quote, toCountText } from '../../kit/text.ts'
import { defineTool, type Tool } from '../../kit/tool.ts'
import { jellyfinSpec } from '../config.ts'
import { readSessions } from '../upstreams/jellyfin/jellyfin.ts'
import {
  toBitrateText,
  toDelivery,
  toPositionText,
  toSeconds,
  toViewer,
} from '../upstreams/jellyfin/playing.ts'
import type { Session } from '../upstreams/jellyfin/shapes.ts'
import type { Media } from '../upstreams/upstreams.ts'
import { instanceField, READ, titleOutput } from './common.ts'

const playing = z.object({
  id: z.string().describe('for stop_jellyfin_session'),
  user: foreignText(100),
  title: titleOutput,
  device: foreignText(100),
  app: foreignText(100),
  paused: z.boolean(),
  positionSeconds: z.number().optional(),
  lengthSeconds: z.number().optional(),
  delivery: z
    .enum(['direct', 'remux', 'transcode'])
    .describe(
      'direct: the file as it is; remux: another container only, cheap; transcode: converted, costs CPU or GPU',
    ),
  reasons: z.array(z.string()).describe('why it is not played directly'),
  into: z.string().optional().describe('what it is converted to'),
  bitrate: z.number().optional().describe('bits a second'),
})
type Playing = z.input<typeof playing>

const output = z.object({
  instance: z.string(),
  playing: z.array(playing),
  idle: z.int().describe('devices that are connected and play nothing'),
})

/** `get_jellyfin_sessions`: who plays what on which device, and why it is converted. */
export function getJellyfinSessions({ jellyfins }: Media): Tool {
  return defineTool({
    name: 'get_jellyfin_sessions',
    title: 'Jellyfin sessions',
    description:
      'Who watches or listens to what on Jellyfin now: user, title, device, position, whether paused or ' +
      'transcoding and why. Call it when asked what plays, when the CPU is high, or before anything that ' +
      'disturbs viewers.',
    annotations: READ,
    input: z.strictObject({ instance: instanceField }),
    output,
    async run({ instance }, signal) {
      const jellyfin = pickInstance(jellyfins, instance, jellyfinSpec)
      const sessions = await readSessions(jellyfin, signal)
      const active = sessions.filter(session => session.NowPlayingItem)
      const data = {
        instance: jellyfin.name,
        playing: active.map(toPlaying),
        idle: sessions.length - active.length,
      }
      return { data, text: toText(data, active), untrusted: active.length > 0 }
    },
  })
}

function toPlaying(session: Session): Playing {
  const { method, reasons, into, bitrate } = toDelivery(session)
  const item = session.NowPlayingItem
  const at = session.PlayState?.PositionTicks
  return {
    id: session.Id,
    ...toViewer(session),
    app: session.Client ?? '',
    paused: session.PlayState?.IsPaused ?? false,
    positionSeconds: typeof at === 'number' ? toSeconds(at) : undefined,
    lengthSeconds: item?.RunTimeTicks ? toSeconds(item.RunTimeTicks) : undefined,
    delivery: method,
    reasons,
    into: into || undefined,
    bitrate,
  }
}

function toText({ playing, idle }: z.input<typeof output>, sessions: readonly Session[]): Text {
  const others = idle > 0 && `${toCountText(idle, 'device')} connected without playing anything.`
  if (playing.length === 0) return ['Nothing is playing on Jellyfin.', others]
  const lines = playing.map((one, index) => {
    const session = sessions[index]
    const position = session && toPositionText(session)
    const state = one.paused ? 'paused' : 'playing'
    const where = `on ${quote(one.device, 60)} (${quote(one.app, 60)})`
    return `${quote(one.user, 60)} has ${quote(one.title)} ${state} ${where}${position ? `, ${position}` : ''}: ${toDeliveryText(one)}.`
  })
  return [`${toCountText(playing.length, 'session')} playing on Jellyfin:`, lines, others]
}

function toDeliveryText({ delivery, reasons, into, bitrate }: Playing): string {
  const rate = bitrate === undefined ? '' : ` at ${toBitrateText(bitrate)}`
  if (delivery === 'direct') return `played directly${rate}`
  const why = reasons.length > 0 ? reasons.join('; ') : 'Jellyfin does not say why'
  if (delivery === 'remux') return `repacked without converting${rate}, because ${why}`
  return `transcoding${into ? ` ${into}` : ''}${rate}, because ${why}`
}
