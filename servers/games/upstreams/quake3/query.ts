import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import type { Clock } from '../../../kit/clock.ts'
import { cleanText } from '../../../kit/text.ts'
import type { GameStatus } from '../../game.ts'
import { toNames, withoutCaretColors } from '../names.ts'

const OUT_OF_BAND = '\u00ff\u00ff\u00ff\u00ff'
const QUESTION = Buffer.from(`${OUT_OF_BAND}getstatus\0`, 'latin1')
const ANSWER = Buffer.from(`${OUT_OF_BAND}statusResponse\n`, 'latin1')
/** Milliseconds after which the packet is sent again, since it may be lost. */
const AGAIN = 1000

/** Types of gamedig that speak Quake 3's protocol, with their default ports. */
const PORTS: ReadonlyMap<string, number> = new Map([
  ...['cod', 'coduo', 'cod2', 'cod3', 'cod4mw', 'codwaw', 'codmw2', 'plutonium'].map(toPort(28_960)),
  ...['q3a', 'openarena', 'rtcw', 'stvef', 'urbanterror', 'wet'].map(toPort(27_960)),
  ...['nexuiz', 'wop'].map(toPort(26_000)),
  ['sof2', 20_100],
  ['stvef2', 29_253],
  ['swjkja', 29_070],
  ['swjk2jo', 28_070],
  ['tremulous', 30_720],
])

/** Returns the port for Quake 3's own query of a gamedig type; undefined for all other types. */
export function toQuake3Port(type: string, port: number | undefined): number | undefined {
  if (type === 'protocol-quake3') return port
  const usual = PORTS.get(type)
  return usual === undefined ? undefined : (port ?? usual)
}

export interface Quake3Question {
  host: string
  port: number
  countBots?: boolean | undefined
}

/**
 * Sends Quake 3's getstatus (ioquake3, SVC_Status): the answer is one packet with the settings as "
 * ame\value…", and a line "score ping "name"" for each player. Players with a ping of 0 are bots. Rejects as
 * the socket does, or with the signal's reason.
 */
export async function askQuake3(
  question: Quake3Question,
  clock: Clock,
  signal: AbortSignal,
): Promise<GameStatus> {
  using opened = new DisposableStack()
  const socket = createSocket('udp4')
  opened.defer(() => socket.close())
  const answer = firstAnswer(socket, signal)
  socket.connect(question.port, question.host)
  await Promise.race([once(socket, 'connect', { signal }), answer])
  const from = clock.monotonic()
  opened.defer(sendRepeatedly(socket, clock))
  const text = await answer
  return toStatus(text, question.countBots === true, Math.round(clock.monotonic() - from))
}

function firstAnswer(socket: Socket, signal: AbortSignal): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const onAbort = () => reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  socket.on('error', reject)
  socket.on('message', message => {
    if (message.subarray(0, ANSWER.length).equals(ANSWER)) resolve(message.toString('latin1', ANSWER.length))
  })
  return promise.finally(() => signal.removeEventListener('abort', onAbort))
}

/** Sends the question until the returned function is called. */
function sendRepeatedly(socket: Socket, clock: Clock): () => void {
  let cancel: () => void = () => undefined
  const send = () => {
    socket.send(QUESTION)
    cancel = clock.after(AGAIN, send)
  }
  send()
  return () => cancel()
}

function toStatus(text: string, countBots: boolean, ping: number): GameStatus {
  const [settings = '', ...lines] = text.split('\n')
  const known = toSettings(settings)
  const everyone = lines.flatMap(line => {
    const [, pingText, name = ''] = /^-?\d+ (-?\d+) "(.*)"/.exec(line) ?? []
    return pingText === undefined ? [] : [{ name: withoutCaretColors(name), isBot: Number(pingText) === 0 }]
  })
  const counted = countBots ? everyone : everyone.filter(({ isBot }) => !isBot)
  const most = Number(known.get('maxclients') ?? known.get('sv_maxclients'))
  return {
    name: toText(known.get('hostname') ?? known.get('sv_hostname')) ?? '',
    map: toText(known.get('mapname')),
    version: toText(known.get('version')),
    players: counted.length,
    maxPlayers: Number.isInteger(most) && most > 0 ? most : undefined,
    bots: countBots ? 0 : everyone.length - counted.length,
    names: toNames(
      counted.map(({ name }) => name),
      counted.length,
    ),
    ping,
  }
}

function toSettings(text: string): ReadonlyMap<string, string> {
  const parts = text.replace(/^\\/, '').split('\\')
  return new Map(
    parts.flatMap((name, index) => (index % 2 === 0 ? [[name, parts[index + 1] ?? ''] as const] : [])),
  )
}

function toText(value: string | undefined): string | undefined {
  const clean = cleanText(withoutCaretColors(value ?? ''), 100)
  return clean === '' ? undefined : clean
}

function toPort(port: number) {
  return (type: string) => [type, port] as const
}
