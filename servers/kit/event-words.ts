import type { EventPayload, EventType } from '../../schemas/events.ts'
import type { Emit } from './events.ts'
import { cleanText, toByteText, toCountText, toPercentText } from './text.ts'

/** Quotes foreign text with marks that it cannot contain and that JSON does not have to escape. */
const quote = (text: string, max = 200) => `'${cleanText(text, max).replaceAll("'", '"')}'`

/** Wording of an event: one line for people and models, and the units of its figures by field name. */
interface Words<Type extends EventType> {
  text(payload: EventPayload<Type>): string
  units?: Record<string, string>
}

const PERCENT = { percent: '%', threshold: '%' }

const toHigh = (what: string, { host, percent, threshold }: EventPayload<'cpu_high'>) =>
  `${what} of ${quote(host)} is used to ${toPercentText(percent)}; from ${toPercentText(threshold)} on that counts as high.`

const WORDS: { readonly [Type in EventType]: Words<Type> } = {
  cpu_high: { text: payload => toHigh('The CPU', payload), units: PERCENT },
  memory_high: { text: payload => toHigh('The memory', payload), units: PERCENT },
  disk_high: {
    text: payload => {
      const free = payload.free === undefined ? '' : ` ${toByteText(payload.free)} are free.`
      return `${toHigh(`The disk at ${quote(payload.mount)}`, payload)}${free}`
    },
    units: { ...PERCENT, free: 'bytes' },
  },
  temp_high: {
    text: ({ host, sensor, temp, threshold }) =>
      `The sensor ${quote(sensor)} of ${quote(host)} is at ${temp} °C; from ${threshold} °C on that counts as high.`,
    units: { temp: '°C', threshold: '°C' },
  },
  server_empty: {
    text: ({ server, previousCount }) =>
      `The last of ${toCountText(previousCount, 'player')} left ${quote(server)}.`,
    units: { previousCount: 'players' },
  },
  player_joined: {
    text: payload => `${toNames(payload)} joined ${toPlayers(payload)}`,
    units: { playerCount: 'players' },
  },
  player_left: {
    text: payload => `${toNames(payload)} left ${toPlayers(payload)}`,
    units: { playerCount: 'players' },
  },
  server_crash: { text: toCrash },
  download_complete: {
    text: ({ client, name, size }) => `${quote(client)} has downloaded ${quote(name)}, ${toByteText(size)}.`,
    units: { size: 'bytes' },
  },
  download_failed: {
    text: ({ client, name, size, reason }) =>
      `${quote(client)} could not download ${quote(name)}, ${toByteText(size)}${reason ? `: ${quote(reason, 300)}` : ''}.`,
    units: { size: 'bytes' },
  },
  disk_full_warning: {
    text: ({ client, free, needed }) => {
      const queue = needed === undefined ? '' : `; its queue needs ${toByteText(needed)}`
      return `The disk of ${quote(client)} has ${toByteText(free)} free${queue}.`
    },
    units: { free: 'bytes', needed: 'bytes' },
  },
  transcode_started: {
    text: ({ user, title, device, reason }) =>
      `${quote(title)} is converted for ${quote(user)} on ${quote(device)}: ${quote(reason, 300)}.`,
  },
  media_added: {
    text: ({ title, type, library }) => `${quote(title)} (${quote(type)}) is new in ${quote(library)}.`,
  },
  container_unhealthy: {
    text: ({ name, status, restarts }) =>
      `The container ${quote(name)} is not well: ${quote(status)}, ${toCountText(restarts, 'restart')} so far.`,
    units: { restarts: 'restarts' },
  },
}

function toNames({ names = [] }: EventPayload<'player_joined'>): string {
  return names.length === 0 ? 'Somebody' : names.map(name => quote(name)).join(', ')
}

function toPlayers({ server, playerCount }: EventPayload<'player_joined'>): string {
  return `${quote(server)}, where ${toCountText(playerCount, 'player')} ${playerCount === 1 ? 'is' : 'are'} now.`
}

function toCrash({ server, exitCode, oom, count }: EventPayload<'server_crash'>): string {
  const how = exitCode === undefined ? '' : ` with exit code ${exitCode}`
  const why = oom ? ', because its memory ran out' : ''
  const loop = count === undefined ? '' : ` It crashes again and again: ${count} times within ten minutes.`
  return `The game server ${quote(server)} ended by itself${how}${why}.${loop}`
}

/** Returns an `Emit` that adds the line of text and the units to each event. */
export function emitInWords(emit: Emit): Emit {
  return (type, payload, key) => emit(type, { ...inWords(type, payload), ...payload }, key)
}

function inWords<Type extends EventType>(type: Type, payload: EventPayload<Type>) {
  const { text, units } = WORDS[type]
  const given = Object.entries(units ?? {}).filter(([field]) => field in payload)
  return {
    text: text(payload),
    ...(given.length > 0 ? { units: Object.fromEntries(given) } : {}),
  }
}
