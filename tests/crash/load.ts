import { setTimeout as pause } from 'node:timers/promises'
import { within } from '../support/until.ts'
import type { Random } from './random.ts'
import { createRandom } from './random.ts'
import { countLoad, type Outcome, settle } from './run-point.ts'
import { CONVERSATIONS, type DieAt, type Life, openWorld, type World } from './world.ts'

/** Number of kills of one world before everything is checked. */
export const KILLS_PER_WORLD = 10
/** Milliseconds after which a run that did not end itself is killed. */
const LONGEST_LIFE_MS = 4_000
const START_MS = 60_000

const ASKS = ['answer', 'look', 'change', 'change', 'remember', 'wake', 'guard', 'task'] as const

/** The end of a run: some milliseconds after its start, or at a counted statement or commit. */
type Death = { after: number } | DieAt

/** Kills the hub repeatedly at random under load, then lets it finish its work, and checks everything. */
export async function killAtRandom(seed: number): Promise<Outcome> {
  const outcome: Outcome = { name: `at random, seed ${seed}`, ends: 0, problems: [] }
  const random = createRandom(seed)
  try {
    await using world = await openWorld()
    world.provider.delay = () => random.between(0, 8)
    world.tools.delay = () => random.between(0, 15)
    world.setTicking(true)
    for (; outcome.ends < KILLS_PER_WORLD; outcome.ends++) await liveAndDie(world, random)
    world.setTicking(false)
    outcome.problems.push(...(await settle(world)))
    outcome.load = countLoad(world)
  } catch (error) {
    outcome.problems.push(error instanceof Error ? error.message : String(error))
  }
  return outcome
}

function decideDeath(random: Random): Death {
  const dice = random.next()
  if (dice < 0.45) return { after: random.between(0, 1200) }
  if (dice < 0.6) return { at: 'before commit', times: random.between(1, 60) }
  if (dice < 0.75) return { at: 'after commit', times: random.between(1, 60) }
  return { at: 'after statement', times: random.between(1, 400) }
}

async function liveAndDie(world: World, random: Random): Promise<void> {
  const death = decideDeath(random)
  const life = await world.start('at' in death ? death : undefined)
  let lives = true
  const ended = life.ended.then(() => {
    lives = false
  })
  const busy = world.connect(life).then(() => makeLoad(world, random, () => lives))
  await Promise.race([ended, 'at' in death ? outlive(life) : pause(death.after)])
  if (lives) life.program.signal('SIGKILL')
  await within('the end of a killed hub', ended, START_MS)
  await busy
}

/** Waits for the end of a hub, which may never reach the point at which it would kill itself. */
async function outlive(life: Life): Promise<void> {
  await life.ready
  await pause(LONGEST_LIFE_MS)
}

/** Sends messages, raises events and makes schedules until the hub is gone. */
async function makeLoad(world: World, random: Random, lives: () => boolean): Promise<void> {
  while (lives()) {
    const { wishes } = world.person
    const dice = random.next()
    if (dice < 0.8) {
      const lines = Array.from({ length: random.between(1, 3) }, (_, index) => {
        return `please ${random.pick(ASKS)} r${wishes.length}.${index}`
      })
      world.person.say(random.pick(CONVERSATIONS), lines.join('\n'))
    } else if (dice < 0.93) world.tools.raise(`e${world.tools.raised.length}`)
    // A killed hub does not acknowledge the schedule, so it is not expected to fire.
    else await world.schedule('gamma', `s${world.schedules.length}-${random.next()}`).catch(() => undefined)
    await pause(random.between(0, 40))
  }
}
