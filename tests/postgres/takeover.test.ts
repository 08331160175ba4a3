import { expect, test } from 'vitest'
import { server } from '../support/test-database.ts'
import { openTrio, PATIENCE_MS, type Trio } from './trio.ts'
import { WAYS, type Way } from './ways.ts'

if (server === undefined) throw new Error('These tests need a PostgreSQL: npm run test:postgres')

/** `SUPERBLOOM_TEST_ROUNDS=200` makes the long run. */
const ROUNDS = Number(process.env['SUPERBLOOM_TEST_ROUNDS'] ?? 20)
/** Trios at once, each with its share of the rounds: most of the time they wait for a lease to end. */
const TRIOS = ROUNDS > 20 ? 5 : 3

/** Moments of the work at which a fault comes. */
const MOMENTS = [
  { name: 'in the midst of a reply', next: ({ provider }: Trio) => nextOf(provider.replies) },
  { name: 'in the midst of a call', next: ({ tools }: Trio) => nextOf(tools.effects) },
  { name: 'right after a post', next: async () => undefined },
] as const

const nextOf = <Value>(record: {
  all: Value[]
  find: (what: string, fits: () => boolean, from: number, limit: number) => Promise<Value>
}) => record.find('the work begins', () => true, record.all.length, PATIENCE_MS)

/** Gives the hubs work of several kinds at once; before a pause only what one thread does step by step. */
function say({ person, tools }: Trio, round: number, { isPaused = false }: Way): void {
  if (isPaused) {
    person.say('alpha', `please change ${round}.0`)
    return
  }
  person.say('alpha', `please change ${round}.0\nplease look ${round}.1`)
  person.say('alpha/side', `please answer ${round}.2`)
  person.say('beta', `please guard ${round}.3`)
  person.say('gamma', `please ${round % 2 === 0 ? 'task' : 'remember'} ${round}.4`)
  tools.raise(`event-${round}`)
}

test.concurrent.each(Array.from({ length: TRIOS }, (_, index) => index))(
  `promises 1 to 5: of three hubs one leads through every fault, with nothing lost and nothing twice (trio %i of ${TRIOS})`,
  { timeout: (ROUNDS / TRIOS) * 2 * PATIENCE_MS },
  async index => {
    await using trio = await openTrio(index)
    const share = Math.ceil(ROUNDS / TRIOS)
    for (let round = index * share; round < Math.min((index + 1) * share, ROUNDS); round++) {
      const way = WAYS[round % WAYS.length]
      const which = Math.floor(round / WAYS.length) + round
      const moment = MOMENTS[which % (way?.isPaused ? 2 : MOMENTS.length)]
      if (!way || !moment) throw new Error('There is no such round')
      const what = `round ${round}: ${way.name}, ${moment.name}, ${trio.leader.name}`
      try {
        const begun = moment.next(trio)
        say(trio, round, way)
        await begun
        const took = await way.happen(trio, trio.leader)
        await trio.quiet()
        const figure = took === undefined ? '' : `: the next led after ${Math.round(took)} ms`
        process.stdout.write(`${what}${figure}\n`)
      } catch (error) {
        const words = await Promise.all(trio.members.map(member => member.lastWords()))
        throw new Error([what, String(error), ...words].join('\n'), { cause: error })
      }
    }
    expect(await trio.findProblems()).toEqual([])
  },
)
