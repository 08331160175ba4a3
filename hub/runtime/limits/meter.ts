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
  /** Releases the reservation; call `spend` with what was used of it. */
  release(reservation: Reservation): void
  spend(usage: UsageDay): void
  /** Number of reservations that were released so far. */
  readonly releases: number
  /** Resolves when a reservation was released; rejects with the signal's reason. */
  changed(signal?: AbortSignal): Promise<void>
}

/** Days in memory: today, and the day before for calls that began in it. */
const MOST_DAYS = 2

export function createMeter(read: (day: string) => Promise<UsageDay[]>): Meter {
  const days = new Map<string, { agents: Map<string, Spent>; opened: Promise<void> }>()
  const running = new Set<Reservation>()
  const waiting = new Set<() => void>()
  let releases = 0

  const agentsOf = (day: string) => days.get(day)?.agents ?? new Map<string, Spent>()
  const add = (agents: Map<string, Spent>, usage: UsageDay) => {
    const before = agents.get(usage.agent) ?? NOTHING
    agents.set(usage.agent, {
      tokens: before.tokens + usage.tokens,
      micros: before.micros + usage.cost_micros,
      wakes: before.wakes + usage.wakes,
    })
  }
  return {
    open(day) {
      const known = days.get(day)
      if (known) return known.opened
      const agents = new Map<string, Spent>()
      const opened = read(day).then(
        rows => {
          for (const row of rows) add(agents, row)
        },
        error => {
          days.delete(day)
          throw error
        },
      )
      days.set(day, { agents, opened })
      for (const oldest of [...days.keys()].sort().slice(0, -MOST_DAYS)) days.delete(oldest)
      return opened
    },
    spent: (day, agent) =>
      agent === undefined
        ? [...agentsOf(day).values()].reduce(sum, NOTHING)
        : (agentsOf(day).get(agent) ?? NOTHING),
    reserved: (day, agent) =>
      [...running]
        .filter(each => each.day === day && (agent === undefined || each.agent === agent))
        .reduce<Spent>(sum, NOTHING),
    get releases() {
      return releases
    },
    reserve: reservation => void running.add(reservation),
    release(reservation) {
      if (!running.delete(reservation)) return
      releases++
      for (const tell of [...waiting]) tell()
    },
    spend(usage) {
      const known = days.get(usage.day)
      if (known) add(known.agents, usage)
    },
    changed(signal) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason)
        const end = () => {
          waiting.delete(tell)
          signal?.removeEventListener('abort', onAbort)
        }
        const tell = () => {
          end()
          resolve()
        }
        const onAbort = () => {
          end()
          reject(signal?.reason)
        }
        waiting.add(tell)
        signal?.addEventListener('abort', onAbort, { once: true })
      })
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
