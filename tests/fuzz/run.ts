import { inspect, parseArgs } from 'node:util'
import fc from 'fast-check'
import { targets } from './targets.ts'

/* Feeds made inputs to all that reads texts of strangers. Exits with 1 if a promise broke. */

const USAGE = `npm run test:fuzz -- [--long] [--seed N] [--only NAME]

  --long  1,000,000 inputs in place of 20,000
  --seed  repeats the inputs of a run that failed
  --only  one kind: ${Object.keys(targets).join(', ')}
`

const { values } = parseArgs({
  options: {
    long: { type: 'boolean', default: false },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    only: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

const chosen = Object.entries(targets).filter(([name]) => values.only === undefined || name === values.only)
if (values.help || chosen.length === 0) {
  process.stdout.write(USAGE)
  process.exit(values.help ? 0 : 2)
}

const each = Math.ceil((values.long ? 1_000_000 : 20_000) / Object.keys(targets).length)
/** The inputs that are made in one go: the library remembers something of each. */
const AT_ONCE = 5_000
/** Milliseconds that these may take, about ten times what they need. */
const LONGEST_MS = 300_000
const seed = Number(values.seed)
process.stdout.write(`seed ${seed}, ${each * chosen.length} inputs\n`)
for (const [name, { about, property, close }] of chosen) {
  const begun = performance.now()
  let tried = 0
  let failure: fc.RunDetails<[unknown]> | undefined
  while (tried < each && !failure) {
    const details = await fc.check(property, {
      numRuns: Math.min(AT_ONCE, each - tried),
      seed: seed + tried,
      // Making a failing input smaller has no other end where the input is large.
      interruptAfterTimeLimit: LONGEST_MS,
      markInterruptAsFailure: true,
    })
    tried += details.numRuns
    if (details.failed) failure = details
  }
  await close?.()
  const seconds = ((performance.now() - begun) / 1000).toFixed(1)
  process.stdout.write(`${failure ? 'FAILED' : 'ok    '} ${name}: ${tried} in ${seconds} s (${about})\n`)
  if (!failure) continue
  process.exitCode = 1
  const { counterexample, errorInstance } = failure
  const why = errorInstance instanceof Error ? errorInstance.stack : errorInstance
  const input = inspect(counterexample?.[0], { depth: 10, maxStringLength: 2_000 })
  process.stdout.write(`seed ${failure.seed}: ${why}\n${input}\n`)
}
