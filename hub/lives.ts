import type { Foundation } from './foundation.ts'
import { appendMessage } from './store/conversations.ts'
import { beginLife, endHold, type Hold, markLife, readHold, readLives, writeHold } from './store/lives.ts'
import type { LifeTable } from './store/tables.ts'

/** A life that ends sooner than this, and not in order, is one turn of a crash loop. */
const SHORT_MS = 30_000
/** So many in a row, with no step committed between, and the agents are held. */
const TURNS = 3

export type LivesDeps = Pick<Foundation, 'store' | 'clock' | 'newId' | 'signals' | 'log' | 'config'>

/** This run of the hub among those before it. */
export interface Life extends AsyncDisposable {
  /** Why no agent runs; undefined where they do. */
  readonly hold: Hold | undefined
}

/** Whether the lives before, the newest first, are a crash loop. */
export function isCrashLoop(lives: readonly Pick<LifeTable, 'outlived' | 'stepped' | 'ended_at'>[]): boolean {
  const turns = lives.slice(0, TURNS)
  return (
    turns.length === TURNS &&
    turns.every(({ outlived, stepped, ended_at }) => outlived === 0 && stepped === 0 && ended_at === null)
  )
}

/** Writes down that the hub lives, and decides whether its agents are held. Disposing is the end in order. */
export async function openLife(deps: LivesDeps): Promise<Life> {
  const { store, clock, signals, log } = deps
  const id = deps.newId('life')
  let hold = await begin(deps, id)
  if (hold) log.error('agents_held', { since: hold.since, letGo: 'superbloom status --release' })
  const note = (mark: Parameters<typeof markLife>[2]) => {
    store
      .write(tx => markLife(tx, id, mark), 'relaxed')
      .catch(error => log.error('life_not_noted', { error }))
  }
  const cancel = clock.after(SHORT_MS, () => note({ outlived: 1 }))
  const offStep = signals.on('stepped', () => {
    offStep()
    note({ stepped: 1 })
  })
  const offMessage = signals.on('message', message => {
    if (!hold || message.kind !== 'user' || hold.told.includes(message.conversation)) return
    hold = { ...hold, told: [...hold.told, message.conversation] }
    tellHeld(deps, hold, message).catch(error => log.error('hold_not_told', { error }))
  })
  const offRelease = signals.on('released', () => {
    hold = undefined
  })
  return {
    get hold() {
      return hold
    },
    async [Symbol.asyncDispose]() {
      for (const off of [cancel, offStep, offMessage, offRelease]) off()
      await store.write(tx => markLife(tx, id, { ended_at: clock.now() }))
    },
  }
}

function begin({ store, clock, config }: LivesDeps, id: string): Promise<Hold | undefined> {
  return store.write(async tx => {
    if (!config.current.crashHold) await endHold(tx)
    const held = await readHold(tx)
    const isLoop = config.current.crashHold && isCrashLoop(await readLives(tx, TURNS))
    await beginLife(tx, id, clock.now())
    if (held || !isLoop) return held
    const hold = { since: clock.now(), told: [] }
    await writeHold(tx, hold)
    return hold
  })
}

async function tellHeld(
  { store, clock, newId, signals }: LivesDeps,
  hold: Hold,
  asked: { conversation: string; id: string },
): Promise<void> {
  const message = await store.write(async tx => {
    await writeHold(tx, hold)
    return appendMessage(tx, {
      id: newId('msg'),
      conversation: asked.conversation,
      kind: 'notice',
      author: 'hub',
      text: 'Your message is kept, but no agent runs: the hub ended three times in a row right after its start, so its agents are held. Its log says why; let them go with: superbloom status --release',
      at: clock.now(),
      inReplyTo: [asked.id],
    })
  })
  signals.emit('message', message)
}
