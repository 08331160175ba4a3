import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { ensureBuilt } from '../support/built.ts'
import { APPROVAL_POINTS } from './approval-points.ts'
import { ENDINGS } from './endings.ts'
import { KILLS_PER_WORLD, killAtRandom } from './load.ts'
import { POINTS } from './points.ts'
import { type Section, sumUp, toLine, writePage } from './report.ts'
import { endAt, killAt, type Outcome } from './run-point.ts'
import { TASK_POINTS } from './task-points.ts'

/*
 * The kill matrix: every named point, SIGTERM at several moments, and kills at random. Exits with 1 if a
 * promise broke.
 */

const USAGE = `npm run test:crash -- [--long] [--seed N] [--kills N] [--only TEXT] [--write] [--json FILE]

  --long   500 kills at random in place of 40, and every point five times
  --seed   repeats the random kills of a seed that failed
  --kills  how many random kills
  --only   only the points whose names have this text, and no random kills
  --write  puts the results into docs/reliability.md
  --json   writes how many passed and failed
`

const { values } = parseArgs({
  options: {
    long: { type: 'boolean', default: false },
    seed: { type: 'string' },
    kills: { type: 'string' },
    only: { type: 'string' },
    write: { type: 'boolean', default: false },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

type Job = () => Promise<Outcome>

/** Runs the jobs, one on each processor, and prints each result. */
async function runAll(title: string, jobs: readonly Job[]): Promise<Outcome[]> {
  process.stdout.write(`\n${title}\n`)
  const outcomes: Outcome[] = []
  const left = jobs.entries()
  const work = async () => {
    for (const [index, job] of left) {
      const outcome = await job()
      outcomes[index] = outcome
      process.stdout.write(`${toLine(outcome)}\n`)
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, work))
  return outcomes
}

async function runMatrix(): Promise<{ sections: Section[]; outcomes: Outcome[] }> {
  const { long, only = '' } = values
  const repeated = Array.from({ length: long ? 5 : 1 }, (_, index) => index)
  const isWanted = ({ name }: { name: string }) => name.includes(only)
  const points = [...POINTS, ...APPROVAL_POINTS, ...TASK_POINTS].filter(isWanted)
  const endings = ENDINGS.filter(isWanted)
  const kills = only ? 0 : Number(values.kills ?? (long ? 500 : 40))
  const first = Number(values.seed ?? Math.floor(Math.random() * 1_000_000))
  const worlds = Array.from({ length: Math.ceil(kills / KILLS_PER_WORLD) }, (_, index) => first + index)

  const killed = await runAll(
    'Killed at a point',
    repeated.flatMap(() => points.map(point => () => killAt(point))),
  )
  const ended = await runAll(
    'Asked to end (SIGTERM)',
    repeated.flatMap(() => endings.map(point => () => endAt(point))),
  )
  const random = await runAll(
    `Killed at random, from seed ${first} on (--seed N --kills ${KILLS_PER_WORLD} repeats one)`,
    worlds.map(seed => () => killAtRandom(seed)),
  )
  const sum = sumUp(random)
  process.stdout.write(`${sum.name}\n`)
  return {
    sections: [
      { title: 'SIGKILL', outcomes: [...merge(killed), sum] },
      { title: 'SIGTERM', outcomes: merge(ended) },
    ],
    outcomes: [...killed, ...ended, ...random],
  }
}

/** Merges the rows of the same point. */
function merge(outcomes: readonly Outcome[]): Outcome[] {
  return [...Map.groupBy(outcomes, ({ name }) => name)].map(([name, same]) => ({
    name,
    ends: same.reduce((total, { ends }) => total + ends, 0),
    problems: same.flatMap(({ problems }) => problems),
  }))
}

if (values.help) process.stdout.write(USAGE)
else {
  ensureBuilt()
  const began = performance.now()
  const { sections, outcomes } = await runMatrix()
  const failed = outcomes.filter(({ problems }) => problems.length > 0).length
  const passed = outcomes.length - failed
  const ends = outcomes.reduce((total, outcome) => total + outcome.ends, 0)
  const seconds = Math.round((performance.now() - began) / 1000)
  process.stdout.write(`\n${passed} passed, ${failed} failed; the hub ended ${ends} times in ${seconds} s\n`)
  if (values.json)
    writeFileSync(values.json, JSON.stringify({ numPassedTests: passed, numFailedTests: failed }))
  if (values.write) writePage(sections, new Date().toISOString())
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0
}
