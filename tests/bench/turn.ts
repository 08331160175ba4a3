import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { round } from './start/usage.ts'
import { type Subject, startBareLoop, startHubSubject, startProvider } from './turn/subjects.ts'

const ROUNDS = 9
/** Turns until both run at full speed, while V8 compiles their code. */
const WARM_UP = 700
const SEQUENTIAL = 100
const AT_ONCE = 8
const EACH = 25
const TEXT = 'how is this machine doing?'

interface Measured {
  p50: number
  p95: number
  cpu: number
}

/** Returns milliseconds of CPU that a process has used, user and system. */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  const ticks = Number(fields[11]) + Number(fields[12])
  return (ticks * 1000) / Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))
}

async function measure(
  subject: Subject,
  run: () => Promise<number[]>,
): Promise<{ times: number[]; cpu: number }> {
  const before = cpuOf(subject.pid)
  const times = await run()
  return { times, cpu: (cpuOf(subject.pid) - before) / times.length }
}

async function oneByOne(subject: Subject, conversation: string, count: number): Promise<number[]> {
  const times: number[] = []
  for (let turn = 0; turn < count; turn++) times.push(await subject.turn(conversation, TEXT))
  return times
}

async function atOnce(subject: Subject, conversations: string[]): Promise<number[]> {
  const all = await Promise.all(conversations.map(conversation => oneByOne(subject, conversation, EACH)))
  return all.flat()
}

function summarize(parts: { times: number[]; cpu: number }[]): Measured {
  const times = parts.flatMap(part => part.times).sort((a, b) => a - b)
  const at = (quantile: number) => times[Math.floor(times.length * quantile)] ?? Number.NaN
  const cpus = parts.map(part => part.cpu).sort((a, b) => a - b)
  return { p50: at(0.5), p95: at(0.95), cpu: cpus[Math.floor(cpus.length / 2)] ?? Number.NaN }
}

const alone = (round: number) => `alone-${round}`
const crowd = (round: number) => Array.from({ length: AT_ONCE }, (_, index) => `crowd-${round}-${index}`)

/**
 * Measures from a message to its stored reply: the hub beside a bare loop, in turns, with new conversations
 * in each round.
 */
export async function turn(): Promise<Record<string, number>> {
  const folder = mkdtempSync(join(tmpdir(), 'superbloom-bench-'))
  const rounds = Array.from({ length: ROUNDS }, (_, index) => index)
  const names = ['warm-up', ...rounds.flatMap(round => [alone(round), ...crowd(round)])]
  try {
    await using provider = await startProvider()
    mkdirSync(join(folder, 'hub'))
    await using hub = await startHubSubject(provider.url, join(folder, 'hub'), names)
    await using bare = await startBareLoop(provider.url, folder)
    const subjects = [bare, hub]
    const parts = new Map(subjects.map(({ name }) => [name, { alone: [], crowd: [] } as Parts]))
    for (const subject of subjects) await oneByOne(subject, 'warm-up', WARM_UP)
    for (const round of rounds) {
      for (const subject of round % 2 ? [...subjects].reverse() : subjects) {
        const own = parts.get(subject.name)
        own?.alone.push(await measure(subject, () => oneByOne(subject, alone(round), SEQUENTIAL)))
        own?.crowd.push(await measure(subject, () => atOnce(subject, crowd(round))))
      }
    }
    return toFigures(parts.get(bare.name), parts.get(hub.name))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Parts {
  alone: { times: number[]; cpu: number }[]
  crowd: { times: number[]; cpu: number }[]
}

function toFigures(bare: Parts | undefined, hub: Parts | undefined): Record<string, number> {
  if (!bare || !hub) throw new Error('Nothing was measured')
  const figures: Record<string, number> = {}
  for (const mode of ['alone', 'crowd'] as const) {
    const [base, ours] = [summarize(bare[mode]), summarize(hub[mode])]
    const label = mode === 'alone' ? 'sequential' : `${AT_ONCE} at once`
    for (const [name, { p50, p95, cpu }] of [
      ['bare loop', base],
      ['superbloom', ours],
    ] as const) {
      figures[`${label}, ${name}: p50 ms`] = round(p50, 2)
      figures[`${label}, ${name}: p95 ms`] = round(p95, 2)
      figures[`${label}, ${name}: CPU ms per turn`] = round(cpu, 2)
    }
    figures[`${label}: p50 ratio (aim at most 1.5)`] = round(ours.p50 / base.p50, 2)
    figures[`${label}: CPU ratio (aim at most 2)`] = round(ours.cpu / base.cpu, 2)
  }
  return figures
}
