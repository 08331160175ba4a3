import type { ToolClass } from '../../schemas/power.ts'
import type { JsonObject } from '../core/forwarding.ts'
import type { Log } from '../core/log.ts'
import type { Principal } from '../core/principal.ts'
import { hashOf } from '../store/arguments.ts'
import { type AuditEntry, record, showArguments } from '../store/audit-log.ts'
import type { DoorAudit } from '../store/door-audit.ts'
import type { HubToolDeps } from './hub-tools/deps.ts'

/** Milliseconds for which rows wait for others, so that many calls share a commit. */
const GATHERED_MS = 250
/** Rows of one commit. */
const MOST_PER_COMMIT = 1_000
/** Rows that may wait while nothing can be stored; above that the oldest are lost. */
const MOST_WAITING = 10_000

type CallAuditDeps = Pick<HubToolDeps, 'store' | 'clock' | 'newId' | 'redact'> & {
  log: Log
  refuse: DoorAudit['refuse']
}

/** A call of a client, before it goes out. */
export interface BegunCall {
  by: Principal
  tool: string
  args: JsonObject
  /** A tool that is not known has none. */
  toolClass: ToolClass | undefined
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
   * Notes a call; if it destroys or sends, resolves once that is committed, and throws where it cannot be.
   * Returns what notes the end, which no answer waits for.
   */
  async begin(begun: BegunCall): Promise<(outcome: string) => void> {
    const { clock } = this.#deps
    const from = clock.monotonic()
    const { common, shown } = this.#describe(begun)
    const { toolClass, resumes } = begun
    const startsFirst = !resumes && (toolClass === 'destroy' || toolClass === 'send')
    if (startsFirst) await this.#start({ ...common, at: clock.now(), outcome: 'started', masked: shown })
    return outcome => {
      const ms = Math.round(clock.monotonic() - from)
      this.#add({ ...common, at: clock.now(), outcome, masked: startsFirst ? { ms } : { ...shown, ms } })
    }
  }

  /** Notes a call that does not go out, but not so many that they fill the disk. */
  refuse(call: BegunCall): void {
    const { common, shown } = this.#describe(call)
    this.#deps.refuse({ ...common, masked: shown })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#flush()
    await this.#writing
  }

  #describe({ by, tool, args, toolClass, resumes }: BegunCall) {
    const { redact } = this.#deps
    // A name that nobody gave a tool may be anything.
    const named = toolClass ? { tool: redact(tool) } : { tool: 'unknown' }
    const details = toolClass ? {} : { toolHash: hashOf(tool) }
    const common = {
      kind: toolClass === 'look' ? 'read' : 'call',
      actor: by.name,
      role: by.role,
      door: 'mcp',
      ...named,
      call: `${this.#run}-${++this.#calls}`,
    } as const
    const shown = resumes ? {} : { arguments: showArguments(args, redact), argumentsHash: hashOf(args) }
    return { common, shown: { ...details, ...shown } }
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
