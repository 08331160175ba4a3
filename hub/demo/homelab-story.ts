import type { Story, StoryMessage, StoryReply } from './story-model.ts'

/** Names and times of the homelab's three stories. */
export interface Homelab {
  /** The game server. */
  server: string
  /** The notification channel. */
  channel: string
  /** Time for which downloads are paused, such as "60m". */
  pause: string
  /** Time until a hot machine is checked again. */
  cool: string
  /** Time for which an empty server keeps running. */
  idle: string
}

/** The file of the agent in the stories. */
export const AGENT = `---
description: Looks after the homelab
events: [{ type: temp_high, as: task }, server_empty]
grants: [stop_game_server]
---
You look after the homelab.
`

const call = (name: string, args: Record<string, unknown> = {}) => ({ name, arguments: args })
const done = (summary: string): StoryReply => ({ calls: [call('complete_task', { summary })] })

interface Scene {
  /** The newest batch of the inbox, which started the scene. */
  trigger: string
  /** The results since the trigger, oldest first. */
  results: { tool: string; text: string }[]
}

type Play = (scene: Scene, home: Homelab) => StoryReply

/** A person reports a slow game: the downloads pause, and resume later or when nobody plays. */
const slowServer: Play = ({ results }, { server, channel, pause }) => {
  if (results.length === 0) {
    return {
      calls: [call('get_player_count', { server }), call('get_system_metrics'), call('get_download_status')],
    }
  }
  if (!has(results, 'pause_downloads')) {
    const message = `Downloads are paused so that ${server} runs well.`
    return { calls: [call('pause_downloads'), call('send_notification', { channel, message })] }
  }
  const wake_on_events = [{ type: 'server_empty', match: { server } }]
  return {
    text: 'The downloads took the line. I paused them; they go on by themselves, or once nobody plays.',
    calls: [call('schedule_wake', { delay: pause, reason: 'resume the downloads', wake_on_events })],
  }
}

const resume: Play = ({ results }) =>
  has(results, 'resume_downloads')
    ? { text: 'The downloads go on.', calls: [call('complete_task', { summary: 'The downloads go on.' })] }
    : { calls: [call('resume_downloads')] }

/** A machine is hot: one warning, another check later, and no message if it has cooled down. */
const hot: Play = ({ results }, { channel, cool }) => {
  if (!has(results, 'get_system_metrics')) return { calls: [call('get_system_metrics')] }
  if (!has(results, 'send_notification')) {
    const message = 'The CPU runs hot. I look again in a while.'
    return { calls: [call('send_notification', { channel, message })] }
  }
  return { calls: [call('schedule_wake', { delay: cool, reason: 'is it cooler?' })] }
}

const cooler: Play = ({ results }, { cool }) => {
  const seen = results.find(({ tool }) => tool === 'get_system_metrics')
  if (!seen) return { calls: [call('get_system_metrics')] }
  const degrees = [...seen.text.matchAll(/(\d+(?:\.\d+)?) °C/g)].map(([, number]) => Number(number))
  if (Math.max(0, ...degrees) < 80) return done('It cooled down by itself.')
  return { calls: [call('schedule_wake', { delay: cool, reason: 'is it cooler?' })] }
}

/** The last player left: the server is stopped after a while, unless somebody comes back. */
const empty: Play = (_, { idle }) => ({
  calls: [
    call('schedule_wake', { delay: idle, reason: 'is it still empty?', wake_on_events: ['player_joined'] }),
  ],
})

const stillEmpty: Play = ({ trigger, results }, { server }) => {
  if (trigger.includes('player_joined')) return done('Somebody plays again.')
  const count = results.find(({ tool }) => tool === 'get_player_count')
  if (!count) return { calls: [call('get_player_count', { server })] }
  if (has(results, 'stop_game_server')) return done(`${server} was empty and is stopped.`)
  const isEmpty = /\b(0 players|nobody|no players|empty)\b/i.test(count.text)
  return isEmpty ? { calls: [call('stop_game_server', { server })] } : done('Somebody plays.')
}

/** The plays by trigger; the first match is played. */
const PLAYS: readonly [RegExp, Play][] = [
  [/resume the downloads/, resume],
  [/is it cooler\?/, cooler],
  [/is it still empty\?/, stillEmpty],
  [/temp_high|cpu_high/, hot],
  [/server_empty/, empty],
  [/\bslow\b|\blag/i, slowServer],
]

/** Returns the homelab's three stories: a slow game server, a hot machine, an empty server. */
export function homelabStory(home: Homelab): Story {
  return messages => {
    const scene = toScene(messages)
    const play = PLAYS.find(([pattern]) => pattern.test(scene.trigger))?.[1]
    if (play) return play(scene, home)
    return {
      text: `I only play three stories here. Tell me that ${home.server} is slow, make the machine hot, or let the last player leave.`,
    }
  }
}

function toScene(messages: readonly StoryMessage[]): Scene {
  const start = messages.findLastIndex(
    ({ role, content }) => role === 'user' && content?.startsWith('[INBOX'),
  )
  const since = messages.slice(start + 1)
  const names = since.flatMap(({ tool_calls = [] }) => tool_calls.map(made => made.function.name))
  const texts = since.filter(({ role }) => role === 'tool')
  return {
    trigger: withoutState(messages[start]?.content ?? ''),
    results: texts.map(({ content }, index) => ({ tool: names[index] ?? '', text: content ?? '' })),
  }
}

/** Returns the batch without the hub's list of pending schedules and without results of tasks. */
function withoutState(batch: string): string {
  const [, ...items] = batch.split(/\n\n\d+\. /)
  return items.filter(item => !item.startsWith('Task ')).join('\n')
}

function has(results: Scene['results'], tool: string): boolean {
  return results.some(result => result.tool === tool)
}
