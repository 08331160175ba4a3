import { HUB } from '../../schemas/tokens.ts'
import { type Clock, toLocal } from '../core/clock.ts'
import type { NewId } from '../core/ids.ts'
import type { Log } from '../core/log.ts'
import type { Signals } from '../core/signals.ts'
import { appendMessage } from '../store/conversations.ts'
import {
  countCrashRun,
  crashRuns,
  endHold,
  forgetCrashRuns,
  type Hold,
  readHold,
  writeHold,
} from '../store/hub-state.ts'
import type { Store } from '../store/open.ts'

/** Milliseconds after which a run of the hub no longer counts towards a crash loop. */
const SHORT_MS = 30_000
/** Crashes in a row, each in a short run with a cycle and without a step, that make a crash loop. */
const TURNS = 3
/** Milliseconds after which the hold ends by itself. */
const HOLD_MS = 15 * 60_000

export interface CrashGuardDeps {
  store: Pick<Store, 'write'>
  clock: Clock
  signals: Signals
  log: Log
  newId: NewId
  config: { readonly current: { crashHold: boolean; timezone: string } }
}

/** Detects a crash loop, and then holds the agents. Disposing it records that this run ended in order. */
export interface CrashGuard extends AsyncDisposable {
  /** When the agents were held, and until when; undefined where they run. */
  readonly hold: { since: number; until: number } | undefined
  /** Resolves once it is stored that this run has a cycle, which may crash it. Never rejects. */
  noteCycle(): Promise<void>
}

/** Decides whether the agents are held, and records what tells a crash from an end in order. */
export async function openCrashGuard(deps: CrashGuardDeps): Promise<CrashGuard> {
  const { clock, signals, log } = deps
  await using stack = new AsyncDisposableStack()
  const run = stack.use(watchRun(deps))
  let hold = await decideHold(deps)
  if (hold) {
    log.error('agents_held', {
      since: hold.since,
      until: untilOf(hold),
      letGo: 'superbloom status --release',
    })
    // The hold does not become longer when the time of day jumps backwards.
    const left = Math.min(untilOf(hold) - clock.now(), HOLD_MS)
    stack.defer(clock.after(left, () => void release(deps)))
  }
  stack.defer(
    signals.on('message', message => {
      if (!hold || message.kind !== 'user' || hold.told.includes(message.conversation)) return
      hold = { ...hold, told: [...hold.told, message.conversation] }
      notifyHeld(deps, hold, message).catch(error => log.error('hold_not_told', { error }))
    }),
  )
  stack.defer(
    signals.on('released', () => {
      hold = undefined
    }),
  )
  const whole = stack.move()
  return {
    noteCycle: run.noteCycle,
    get hold() {
      return hold && { since: hold.since, until: untilOf(hold) }
    },
    [Symbol.asyncDispose]: () => whole.disposeAsync(),
  }
}

function untilOf({ since }: Hold): number {
  return since + HOLD_MS
}

/** Counts this run as a crash from its first cycle on, until it lasts, commits a step or ends in order. */
function watchRun({ store, clock, signals, log }: CrashGuardDeps) {
  let noted: Promise<void> | undefined
  const note = (what: typeof countCrashRun) =>
    store.write(what, 'relaxed').catch(error => log.error('run_not_noted', { error }))
  const isNoCrash = () => {
    off()
    noted = note(forgetCrashRuns)
  }
  const offStep = signals.on('stepCommitted', isNoCrash)
  const cancel = clock.after(SHORT_MS, isNoCrash)
  const off = () => {
    offStep()
    cancel()
  }
  return {
    noteCycle: () => (noted ??= note(countCrashRun)),
    async [Symbol.asyncDispose]() {
      off()
      await store.write(forgetCrashRuns)
    },
  }
}

function decideHold({ store, clock, config }: CrashGuardDeps): Promise<Hold | undefined> {
  return store.write(async tx => {
    const held = await readHold(tx)
    const isOver = held !== undefined && clock.now() >= untilOf(held)
    if (isOver || !config.current.crashHold) return void (await endHold(tx))
    if (held || (await crashRuns(tx)) < TURNS) return held
    const hold = { since: clock.now(), told: [] }
    await writeHold(tx, hold)
    return hold
  })
}

async function release({ store, signals, log }: CrashGuardDeps): Promise<void> {
  try {
    if (await store.write(endHold)) signals.emit('released', { by: 'the hub, after 15 minutes' })
  } catch (error) {
    log.error('agents_not_released', { error })
  }
}

async function notifyHeld(
  { store, clock, newId, signals, config }: CrashGuardDeps,
  hold: Hold,
  asked: { conversation: string; id: string },
): Promise<void> {
  const until = toLocal(untilOf(hold), config.current.timezone)
  const message = await store.write(async tx => {
    // The hold may have ended meanwhile.
    if (await readHold(tx)) await writeHold(tx, hold)
    return appendMessage(tx, {
      id: newId('msg'),
      conversation: asked.conversation,
      kind: 'notice',
      author: HUB,
      text: `Your message is kept, but no agent runs until ${until}: the hub ended three times in a row right after its start, while an agent worked. Its log says why; to let the agents go now: superbloom status --release`,
      at: clock.now(),
      inReplyTo: [asked.id],
    })
  })
  signals.emit('message', message)
}
