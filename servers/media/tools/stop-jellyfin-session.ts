import { z } from 'zod'
import { requireAccess } from '../../kit/access.ts'
import { confirmField, confirmOutput, toPreview } from '../../kit/confirm.ts'
import { ToolFailure } from '../../kit/failure.ts'
import { foreignText } from '../../kit/foreign.ts'
import { pickInstance } from '../../kit/instances.ts'
import { quote } from '../../kit/text.ts'
import { defineTool, type Tool } from '../../kit/tool.ts'
import { jellyfinSpec } from '../config.ts'
import { readSessions, showMessage, stopSession } from '../upstreams/jellyfin/jellyfin.ts'
import { toPositionText, toViewer } from '../upstreams/jellyfin/playing.ts'
import type { Session } from '../upstreams/jellyfin/shapes.ts'
import type { Media } from '../upstreams/upstreams.ts'
import { CHANGE, instanceField, titleOutput } from './common.ts'

const input = z.strictObject({
  session: z
    .string()
    .trim()
    .min(1)
    .max(100)
    .describe('id from get_jellyfin_sessions; or the user or device, where only one fits'),
  message: z.string().trim().min(1).max(500).optional(),
  messageOnly: z.boolean().default(false),
  confirm: confirmField,
  instance: instanceField,
})

const output = z.object({
  ...confirmOutput,
  instance: z.string(),
  user: foreignText(100),
  title: titleOutput,
  device: foreignText(100),
  stopped: z.boolean(),
  messageShown: z.boolean(),
})

/** `stop_jellyfin_session`: shows a message and ends a playback, or only shows the message. */
export function stopJellyfinSession({ jellyfins }: Media): Tool {
  return defineTool({
    name: 'stop_jellyfin_session',
    title: 'Stop a Jellyfin session',
    description:
      'Stops what somebody watches on Jellyfin, with a message on their screen first, or only shows the ' +
      'message (messageOnly). Without confirm it only says whose playback it would stop. The position is ' +
      'kept.',
    annotations: { ...CHANGE, destructiveHint: true },
    input,
    output,
    async run({ session: wanted, message, messageOnly, confirm, instance }, signal) {
      const jellyfin = pickInstance(jellyfins, instance, jellyfinSpec)
      requireAccess(jellyfin, messageOnly ? 'change' : 'full')
      const session = findSession(await readSessions(jellyfin, signal), wanted)
      const about = { instance: jellyfin.name, ...toViewer(session) }
      const what = `${quote(about.title)}, which ${quote(about.user, 60)} watches on ${quote(about.device, 60)}`
      const canShow = session.SupportedCommands?.includes('DisplayMessage') ?? false
      const isShown = message !== undefined && canShow
      if (messageOnly && !isShown) throw toNotShown(about.device, message)
      if (!messageOnly && !confirm) {
        const position = toPositionText(session)
        const effects = position === undefined ? [] : [`It is ${position}; Jellyfin keeps the position.`]
        const { data, text } = toPreview(`stop ${what}`, effects)
        return { data: { ...about, ...data, stopped: false, messageShown: false }, text }
      }
      if (isShown) await showMessage(jellyfin, session.Id, message, signal)
      if (!messageOnly) await stopSession(jellyfin, session.Id, signal)
      const data = { ...about, done: true, stopped: !messageOnly, messageShown: isShown }
      if (messageOnly) {
        const text = `${quote(message ?? '')} is shown to ${quote(about.user, 60)} on ${quote(about.device, 60)}.`
        return { data, text }
      }
      const said = isShown ? `, after showing ${quote(message)}` : ''
      const silent = message !== undefined && !isShown ? ' The device cannot show messages.' : ''
      return { data, text: `Jellyfin was told to stop ${what}${said}.${silent}` }
    },
  })
}

function toNotShown(device: string, message: string | undefined): ToolFailure {
  return new ToolFailure({
    what: 'No message was shown.',
    where: `the session on ${quote(device, 60)}`,
    why: message === undefined ? 'there is no message in the call' : 'its app cannot show messages',
    fix: message === undefined ? 'Call it again with a message.' : 'Tell the person another way.',
  })
}

/**
 * Finds a session by its id, else by a user or device that plays only one. Throws a ToolFailure that lists
 * the sessions.
 */
function findSession(sessions: readonly Session[], wanted: string): Session {
  const playing = sessions.filter(session => session.NowPlayingItem)
  const name = wanted.toLowerCase()
  const byId = playing.find(session => session.Id.toLowerCase() === name)
  const named = playing.filter(session =>
    [session.UserName, session.DeviceName].some(one => one?.toLowerCase() === name),
  )
  const [only] = named
  if (byId) return byId
  if (only && named.length === 1) return only
  const list = (named.length > 0 ? named : playing).map(
    session => `${quote(session.UserName ?? '', 60)} on ${quote(session.DeviceName ?? '', 60)}`,
  )
  throw new ToolFailure({
    what:
      named.length > 1
        ? `There are several sessions of ${quote(wanted, 60)}.`
        : `Nothing is played by ${quote(wanted, 60)}.`,
    where: 'the sessions of Jellyfin',
    why: list.length > 0 ? `what plays: ${list.join(', ')}` : 'nothing is playing at all',
    fix: 'Look with get_jellyfin_sessions, and call it again with the id of a session that plays.',
  })
}
