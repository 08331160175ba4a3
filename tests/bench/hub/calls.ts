import { setTimeout as pause } from 'node:timers/promises'
import { median, memoryOf, ownCpuOf, round } from '../start/usage.ts'
import { LANES } from './http-connection.ts'
import { ERAS, resultOf } from './raw-client.ts'
import { type Below, openSubjects, type Subject } from './subjects.ts'

const ROUNDS = 10
/** Calls of each kind in each round: 2,000 in all. */
const CALLS = 200
/** Calls of each kind. Calls get faster while V8 compiles their code, in this hub for some 4,000 of them. */
const WARM_UP = 3_000
/** Milliseconds after which the effects of a start have settled. */
const SETTLE_MS = 5_000
/** Milliseconds; the hub gives memory back after 10 s of rest. */
const REST_MS = 22_000

interface Part {
  /** Milliseconds of each call. */
  times: number[]
  /** Calls per second. */
  rate: number
  /** Milliseconds of CPU per call, used by the process between client and server. */
  cpu: number
}

interface Measured {
  alone: Part[]
  crowd: Part[]
}

interface Summary {
  p50: number
  p95: number
  rate: number
  cpuAlone: number
  cpuCrowd: number
}

type Summaries = ReadonlyMap<Subject, Summary>

/** Measures the same call by every way, in turns: one by one, and one in each lane at once. */
export async function measureCalls(): Promise<Record<string, number>> {
  await using subjects = await openSubjects()
  const { all } = subjects
  await pause(SETTLE_MS)
  const before = memoryFigures('at rest before the calls', all)
  const measured = new Map(all.map(subject => [subject, { alone: [], crowd: [] } as Measured]))
  for (const subject of all) {
    await oneByOne(subject, WARM_UP)
    await inLanes(subject, WARM_UP)
  }
  for (let turn = 0; turn < ROUNDS; turn++) {
    for (const [subject, { alone, crowd }] of turn % 2 ? [...measured].reverse() : measured) {
      alone.push(await measure(subject, () => oneByOne(subject, CALLS)))
      crowd.push(await measure(subject, () => inLanes(subject, CALLS)))
    }
  }
  await pause(REST_MS)
  const after = memoryFigures('at rest after the calls', all)
  const summaries = new Map([...measured].map(([subject, parts]) => [subject, summarize(parts)]))
  return {
    ...callFigures(summaries),
    ...ratios(summaries),
    ...before,
    ...after,
  }
}

async function measure(subject: Subject, run: () => Promise<number[]>): Promise<Part> {
  const [cpu, began] = [ownCpuOf(subject.pid), performance.now()]
  const times = await run()
  const took = performance.now() - began
  return {
    times,
    rate: (times.length * 1_000) / took,
    cpu: (ownCpuOf(subject.pid) - cpu) / times.length,
  }
}

/** Returns milliseconds; throws unless the answer is the call's own text. */
async function callOnce({ name, client, tool }: Subject, lane: number, text: string): Promise<number> {
  const began = performance.now()
  const answer = await client.send('tools/call', { name: tool, arguments: { text } }, lane)
  const took = performance.now() - began
  const [block] = resultOf(answer)['content'] as { text?: string }[]
  if (block?.text !== text) throw new Error(`${name} answered ${answer} to ${text}`)
  return took
}

async function oneByOne(subject: Subject, count: number): Promise<number[]> {
  const times: number[] = []
  while (times.length < count) times.push(await callOnce(subject, 0, `call ${times.length}`))
  return times
}

async function inLanes(subject: Subject, count: number): Promise<number[]> {
  const times: number[] = []
  let begun = 0
  const drive = async (lane: number) => {
    while (begun < count) times.push(await callOnce(subject, lane, `call ${++begun}`))
  }
  await Promise.all(Array.from({ length: LANES }, (_, lane) => drive(lane)))
  return times
}

function summarize({ alone, crowd }: Measured): Summary {
  const times = alone.flatMap(part => part.times).sort((a, b) => a - b)
  return {
    p50: median(times),
    p95: times[Math.floor(times.length * 0.95)] ?? Number.NaN,
    rate: median(crowd.map(part => part.rate)),
    cpuAlone: median(alone.map(part => part.cpu)),
    cpuCrowd: median(crowd.map(part => part.cpu)),
  }
}

function callFigures(all: Summaries): Record<string, number> {
  const figures: Record<string, number> = {}
  for (const [{ name }, { p50, p95, rate, cpuAlone, cpuCrowd }] of all) {
    figures[`${name}: one by one, p50 ms`] = round(p50, 3)
    figures[`${name}: one by one, p95 ms`] = round(p95, 3)
    figures[`${name}: one by one, CPU ms per call`] = round(cpuAlone, 3)
    figures[`${name}: ${LANES} at once, calls per second`] = round(rate, 0)
    figures[`${name}: ${LANES} at once, CPU ms per call`] = round(cpuCrowd, 3)
  }
  return figures
}

/**
 * Compares this hub with the best of the others, with whichever client is fastest there, and with the server
 * itself.
 */
function ratios(all: Summaries): Record<string, number> {
  const peers = [...all].filter(([{ way }]) => way === 'peer').map(([, summary]) => summary)
  const quickest = Math.min(...peers.map(({ p50 }) => p50))
  const fastest = Math.max(...peers.map(({ rate }) => rate))
  const thriftiest = Math.min(...peers.map(({ cpuCrowd }) => cpuCrowd))
  const figures: Record<string, number> = {}
  for (const above of ERAS) {
    const find = (way: Subject['way'], below: Below) =>
      [...all].find(([one]) => one.way === way && one.below === below && one.above === above)?.[1]
    const [stdio, http, direct] = [
      find('superbloom', 'stdio'),
      find('superbloom', 'HTTP'),
      find('direct', 'HTTP'),
    ]
    if (!stdio || !http || !direct) throw new Error(`Nothing was measured with a ${above} client`)
    const client = `${above} client`
    figures[`stdio below, ${client}: p50 over the best of the others (aim at most 1.0)`] = round(
      stdio.p50 / quickest,
      2,
    )
    figures[`stdio below, ${client}: calls per second over the best of the others (aim at least 1.5)`] =
      round(stdio.rate / fastest, 2)
    figures[`stdio below, ${client}: CPU per call over the best of the others`] = round(
      stdio.cpuCrowd / thriftiest,
      2,
    )
    figures[`HTTP below, ${client}: p50 over direct (aim at most 1.5)`] = round(http.p50 / direct.p50, 2)
  }
  return figures
}

/** Returns megabytes of each process between the clients and the one server. */
function memoryFigures(when: string, all: readonly Subject[]): Record<string, number> {
  const figures: Record<string, number> = {}
  for (const { way, through, pid } of all) {
    if (way === 'direct') continue
    const { rss, pss } = memoryOf(pid)
    const aim = way === 'superbloom' ? ' (aim at most 120)' : ''
    figures[`${through}: resident MB ${when}${aim}`] = round((rss * 2 ** 20) / 1e6, 1)
    figures[`${through}: PSS MB ${when}`] = round((pss * 2 ** 20) / 1e6, 1)
  }
  return figures
}
