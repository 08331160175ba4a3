import type { UsageDay } from '../../store/tables.ts'

/** Usage: tokens, money in millionths, and cycles that no person's message was part of (`wakes`). */
export interface Spent {
  tokens: number
  micros: number
  wakes: number
}

/** Budget that is reserved for a call or a wake which is being made. */
export interface Reservation extends Spent {
  day: string
  agent: string
}

/**
 * Counts what the days used so far and what is reserved: read from the store once a day, and kept up to date
 * from then on. Checking and reserving happen without a wait between them, so that calls made at once count
 * together.
 */
export interface Meter {
  /** Reads what a day used; the other functions then know the day. May be called at any time. */
  open(day: string): Promise<void>
  /** Returns what was used on a day, by one agent or by all. */
  spent(day: string, agent?: string): Spent
  /** Returns what running calls may still use, of one agent or of all. */
  reserved(day: string, agent?: string): Spent
  reserve(reservation: Reservation): void
  /** Releases the reservation, once; call `spend` with what was used of it. */
  release(reservation: Reservation | undefined): void
  spend(usage: UsageDay): void
  /** Resolves when the next reservation is released. */
  readonly released: Promise<void>
}

/** Days in memory: today, and the day before for calls that began in it. */
const MOST_DAYS = 2

export function createMeter(read: (day: string) => Promise<UsageDay[]>): Meter {
  const days = new Map<string, { agents: Map<string, Spent>; opened: Promise<void> }>()
  const running = new Set<Reservation>()
  let next = Promise.withResolvers<void>()

  const add = (agents: Map<string, Spent>, { agent, tokens, cost_micros: micros, wakes }: UsageDay) =>
    agents.set(agent, sum(agents.get(agent) ?? NOTHING, { tokens, micros, wakes }))
  const load = async (day: string, agents: Map<string, Spent>) => {
    try {
      for (const row of await read(day)) add(agents, row)
    } catch (error) {
      // The day is read again with the next call.
      days.delete(day)
      throw error
    }
  }
  return {
    open(day) {
      const known = days.get(day)
      if (known) return known.opened
      const agents = new Map<string, Spent>()
      const opened = load(day, agents)
      days.set(day, { agents, opened })
      for (const oldest of [...days.keys()].sort().slice(0, -MOST_DAYS)) days.delete(oldest)
      return opened
    },
    spent(day, agent) {
      const agents = days.get(day)?.agents
      return agent === undefined
        ? [...(agents?.values() ?? [])].reduce(sum, NOTHING)
        : (agents?.get(agent) ?? NOTHING)
    },
    reserved: (day, agent) =>
      [...running]
        .filter(each => each.day === day && (agent === undefined || each.agent === agent))
        .reduce<Spent>(sum, NOTHING),
    reserve: reservation => void running.add(reservation),
    release(reservation) {
      if (!reservation || !running.delete(reservation)) return
      next.resolve()
      next = Promise.withResolvers()
    },
    spend(usage) {
      const agents = days.get(usage.day)?.agents
      if (agents) add(agents, usage)
    },
    get released() {
      return next.promise
    },
  }
}

const NOTHING: Spent = { tokens: 0, micros: 0, wakes: 0 }

function sum(one: Spent, other: Spent): Spent {
  return {
    tokens: one.tokens + other.tokens,
    micros: one.micros + other.micros,
    wakes: one.wakes + other.wakes,
  }
}

/** Resolves with `released`; rejects with the signal's reason when it aborts before. */
export async function untilReleased(released: Promise<void>, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<never>()
  const onAbort = () => aborted.reject(signal.reason)
  signal.throwIfAborted()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    await Promise.race([released, aborted.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
