import type { JsonObject } from '../core/forwarding.ts'
import type { Log } from '../core/log.ts'
import type { Principal } from '../core/principal.ts'
import { type AuditEntry, hashOf, record, showArguments } from '../store/audit-log.ts'
import type { HubToolDeps } from './hub-tools/deps.ts'

/** Milliseconds for which rows wait for others, so that many calls share a commit. */
const GATHERED_MS = 250
/** Rows of one commit. */
const MOST_PER_COMMIT = 200
/** Rows that may wait while nothing can be stored; above that the oldest are lost. */
const MOST_WAITING = 10_000

type CallAuditDeps = Pick<HubToolDeps, 'store' | 'clock' | 'newId' | 'redact'> & { log: Log }

/** A call of a client, before it goes out. */
export interface BegunCall {
  by: Principal
  tool: string
  args: JsonObject
  reads: boolean
  /** Whether it goes on with a call that has begun before. */
  resumes: boolean
}

/** A row, and who waits for its commit. */
interface Waiting {
  entry: AuditEntry
  resolve?: () => void
  reject?: (error: unknown) => void
}

/** Writes calls of clients into the audit. The opener disposes of it. */
export class CallAudit implements AsyncDisposable {
  readonly #deps: CallAuditDeps
  /** The beginning of the ids of this run's calls, and their number. */
  readonly #run: string
  #calls = 0
  #waiting: Waiting[] = []
  /** Whether what waits is to be written now. */
  #isDue = false
  #writing: Promise<void> | undefined
  #cancel: (() => void) | undefined

  constructor(deps: CallAuditDeps) {
    this.#deps = deps
    this.#run = deps.newId('mcp')
  }

  /**
   * Notes a call; if it may change something, resolves once that is committed, and throws where it cannot be.
   * Returns what notes the end, which no answer waits for.
   */
  async begin({ by, tool, args, reads, resumes }: BegunCall): Promise<(outcome: string) => void> {
    const { clock, redact } = this.#deps
    const call = `${this.#run}-${++this.#calls}`
    const from = clock.monotonic()
    const shown = resumes ? {} : { arguments: showArguments(args, redact), argumentsHash: hashOf(args) }
    const common = {
      kind: reads ? 'read' : 'call',
      actor: by.name,
      role: by.role,
      door: 'mcp',
      tool: redact(tool),
      call,
    } as const
    const startsFirst = !reads && !resumes
    if (startsFirst) await this.#start({ ...common, at: clock.now(), outcome: 'started', details: shown })
    return outcome => {
      const ms = Math.round(clock.monotonic() - from)
      this.#add({ ...common, at: clock.now(), outcome, details: startsFirst ? { ms } : { ...shown, ms } })
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#flush()
    await this.#writing
  }

  #start(entry: AuditEntry): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ entry, resolve, reject })
      this.#flush()
    })
  }

  #add(entry: AuditEntry): void {
    this.#waiting.push({ entry })
    if (this.#waiting.length % MOST_PER_COMMIT === 0) this.#flush()
    else this.#cancel ??= this.#deps.clock.after(GATHERED_MS, () => this.#flush())
  }

  #flush(): void {
    this.#isDue = this.#waiting.length > 0
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined
    })
  }

  /** Writes what waits until nothing is due. The commits outlive the process, not a loss of power. */
  async #write(): Promise<void> {
    while (this.#isDue) {
      let rows: Waiting[] = []
      try {
        await this.#deps.store.write(tx => {
          // A job may run again: it then has the same rows.
          if (rows.length === 0) rows = this.#take()
          return record(tx, ...rows.map(({ entry }) => entry))
        }, 'relaxed')
        for (const { resolve } of rows) resolve?.()
      } catch (error) {
        // The commit may fail before the job runs.
        if (rows.length === 0) rows = this.#take()
        this.#isDue = false
        this.#deps.log.error('audit_not_written', { rows: rows.length, error })
        for (const { reject } of rows) reject?.(error)
        const ends = rows.filter(({ reject }) => !reject)
        this.#waiting = [...ends, ...this.#waiting].slice(-MOST_WAITING)
      }
    }
  }

  #take(): Waiting[] {
    this.#cancel?.()
    this.#cancel = undefined
    this.#isDue = false
    return this.#waiting.splice(0)
  }
}
