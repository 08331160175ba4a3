import type { MessageKind } from '../../schemas/chat.ts'
import type { HistoryContent, StepRequest } from '../../schemas/inbox.ts'
import type { NotifiedOf } from '../../schemas/notify.ts'
import { markOf, type Power } from '../../schemas/power.ts'
import type { Model } from '../core/model.ts'
import { appendMessage } from '../store/conversations.ts'
import { countStep, endCycle, markReadForeign, redirectCycle } from '../store/cycles.ts'
import { appendHistory, fencedWrite, type HistoryEntry } from '../store/history.ts'
import { saveTokenFactors } from '../store/hub-state.ts'
import type { InboxItem } from '../store/inbox.ts'
import { resumeCycle, suspendCycle } from '../store/suspended.ts'
import { releaseThread, seizeThread } from '../store/threads.ts'
import { answerMessages, markAsked } from '../store/unanswered.ts'
import type { Tx } from '../store/writer.ts'
import type { RuntimeAgent, RuntimeDeps } from './deps.ts'
import { type Account, settleUsage, writeUsage } from './limits/account.ts'
import { toPreamble } from './prompt.ts'
import { userMessages } from './reply.ts'
import { type CycleEnd, emitEnded, settleTask } from './tasks.ts'
import { type Anchor, toAnchor } from './tokens.ts'

/** Milliseconds that a cycle may go without a write before another process may take its thread over. */
export const LEASE_MS = 20 * 60_000

export type CycleDeps = Pick<
  RuntimeDeps,
  'store' | 'clock' | 'newId' | 'log' | 'signals' | 'model' | 'toolLists' | 'tokens' | 'meter'
>

/** One transaction of a cycle. */
export interface CycleWrite {
  tx: Tx
  now: number
  /** Runs `effect` once the transaction is committed; effects run in the order in which they were added. */
  afterCommit(effect: () => void): void
}

/** A message of a cycle to people. */
export interface CycleMessage {
  kind: MessageKind
  text: string
  /** Default the agent. */
  author?: string
  /** Default the conversation of the cycle's reply. */
  conversation?: string | null
  data?: Record<string, unknown> | undefined
  /** The kind of notification that the message causes; default that of what an agent says unasked. */
  tells?: NotifiedOf
}

interface NewStep {
  answer: HistoryContent | undefined
  added?: HistoryContent | undefined
  counted: number | undefined
}

/** The state from which a cycle starts or is resumed. */
export type CycleStart = Pick<
  ActiveCycle,
  | 'id'
  | 'thread'
  | 'fence'
  | 'agent'
  | 'power'
  | 'hasReadForeign'
  | 'account'
  | 'startedAt'
  | 'attempts'
  | 'wasCut'
  | 'stopRequestedBy'
  | 'target'
  | 'steps'
  | 'resting'
  | 'window'
  | 'windowStart'
  | 'isIdle'
  | 'items'
  | 'unseen'
  | 'hasMore'
  | 'suspendedAt'
>

/**
 * A cycle that this process runs. Everything that it stores goes through `commit`, which refuses to write once
 * another process has taken the thread.
 */
export class ActiveCycle {
  readonly #deps: CycleDeps
  declare readonly id: string
  declare readonly thread: string
  declare readonly fence: number
  declare readonly agent: RuntimeAgent
  /** Power of the items that it took; what it leaves behind inherits it. */
  declare readonly power: Power
  /** Whether it has read text that comes from outside, and may no longer carry anything there unasked. */
  declare hasReadForeign: boolean
  /** What the cycle spent on calls of the model. */
  declare readonly account: Account
  /** Start of the cycle's minutes, unix milliseconds: for a resumed cycle, the time of its resumption. */
  declare readonly startedAt: number
  /** Attempts at the next step: one, and one more for each crash of the hub while the cycle ran. */
  declare readonly attempts: number
  /** Whether the cycle's last process may have ended during a call of the model. */
  declare readonly wasCut: boolean
  /** Name of whoever asked the cycle to stop before this process took it. */
  declare readonly stopRequestedBy: string | null
  /** Conversation of the next text: fixed at the cycle's start, or one that was asked about since. */
  declare target: string | null
  declare steps: number
  /** State of the thread after the cycle: `waiting` while a person's answer is open. */
  declare resting: 'sleeping' | 'waiting'
  /** The window, which grows as the cycle goes on; a message for everything before it may come first. */
  declare window: HistoryEntry[]
  /** The history's seq at which the window starts. */
  declare windowStart: number
  /** Whether the thread slept for so long that the cycle starts from summaries; compaction clears it. */
  declare isIdle: boolean
  /** Items that the cycle took from the inbox so far. */
  declare items: readonly InboxItem[]
  /** Items that no stored step has seen yet. */
  declare unseen: readonly InboxItem[]
  /** Whether an item waits that did not fit, or was given back: the next cycle then begins at once. */
  declare hasMore: boolean
  /** Time since when the provider cannot be reached, unix milliseconds; null while it can. */
  declare suspendedAt: number | null
  /** Compactions so far for which a model could be asked. */
  compactions = 0
  /** Whether the window was made shorter for what a budget leaves, which happens once. */
  isShrunk = false
  /** What was sent for the step that comes next. */
  asked: Omit<StepRequest, keyof typeof NO_USAGE> | undefined
  /** Failures in a row of the last call of the model. */
  failures = 0
  /** Whether people read that the model fails, and not yet that it works again. */
  hasReportedFailure = false
  /** Aborts with StopRequested when a person stops the cycle. */
  stop: AbortSignal = new AbortController().signal
  /** Lets other cycles run beside this one, which is no suspect of a crash any more. */
  share: () => void = () => undefined
  /** How the cycle ended, or what it waits for; undefined while it runs. */
  outcome: 'done' | 'failed' | 'stopped' | 'dead' | 'waits_for_provider' | 'waits_for_budget' | undefined
  /** Tokens that the provider counted up to the last step; undefined once the window was changed otherwise. */
  #anchor: Anchor | undefined
  #isAnnounced = false

  constructor(deps: CycleDeps, start: CycleStart) {
    this.#deps = deps
    Object.assign(this, start)
  }

  get db() {
    return this.#deps.store.db
  }

  get log() {
    return this.#deps.log
  }

  get signals() {
    return this.#deps.signals
  }

  get anchor() {
    return this.#anchor
  }

  now(): number {
    return this.#deps.clock.now()
  }

  newId(prefix: string): string {
    return this.#deps.newId(prefix)
  }

  /** Returns the agent's model, as the config names it by now. */
  model(): Model {
    return this.#deps.model(this.agent.model)
  }

  /** Returns where people are asked: the conversation of the reply, else its task's, else the agent's first. */
  placeOfPeople(): string | null {
    return this.target ?? this.agent.task?.conversation ?? this.agent.conversations[0] ?? null
  }

  preamble() {
    return toPreamble(this.#deps, this)
  }

  /** Returns the tokens of the next request. */
  countRequest(model: Model): number {
    return this.#deps.tokens.count(model.name, this.preamble(), this.window, this.#anchor)
  }

  /**
   * Writes for the cycle: the transaction renews the lease and throws `conflict` if another process took the
   * thread over. What `job` adds with `afterCommit` runs before this resolves.
   */
  async commit<Result>(job: (write: CycleWrite) => Promise<Result>): Promise<Result> {
    let effects: (() => void)[] = []
    const result = await this.#deps.store.write(async tx => {
      effects = []
      await this.guard(tx)
      return job({ tx, now: this.now(), afterCommit: effect => effects.push(effect) })
    })
    for (const effect of effects) effect()
    return result
  }

  /** Renews the lease; throws `conflict` if another process took the thread over. */
  async guard(tx: Tx): Promise<void> {
    await this.#reserve(tx, 0)
  }

  #reserve(tx: Tx, rows: number): Promise<number> {
    const now = this.now()
    return fencedWrite(tx, { ...this.#key, fence: this.fence }, rows, now + LEASE_MS, now)
  }

  get #key() {
    return { thread: this.thread, cycle: this.id }
  }

  /** Appends to the history; the window has the entries after the commit. */
  async append(
    { tx, now, afterCommit }: CycleWrite,
    contents: HistoryContent[],
    step = this.steps,
    request?: StepRequest,
  ): Promise<HistoryEntry[]> {
    if (contents.length === 0) return []
    const lastSeq = await this.#reserve(tx, contents.length)
    const fenced = { ...this.#key, fence: this.fence }
    const entries = await appendHistory(tx, fenced, lastSeq, step, contents, now, request)
    afterCommit(() => this.window.push(...entries))
    return entries
  }

  /**
   * Stores a step: the model's answer, if it is not empty, what the hub adds to it, and its usage. `counted`
   * are the tokens that the provider counted up to the answer; undefined if its count is not to be believed.
   */
  async step(write: CycleWrite, { answer, added, counted }: NewStep): Promise<void> {
    const { tokens, meter } = this.#deps
    const step = this.steps + 1
    const contents = [answer, added].filter(content => content !== undefined)
    const last = this.window.at(-1)
    const { unpaid: { reservation: _, ...usage } = NO_USAGE } = this.account
    const request = answer && this.asked && { ...this.asked, ...usage }
    const [first] = await this.append(write, contents, step, request)
    await countStep(write.tx, this.id, usage)
    await writeUsage(write.tx, this.account)
    if (counted !== undefined) await saveTokenFactors(write.tx, tokens.factors)
    write.afterCommit(() => {
      settleUsage(meter, this.account)
      this.#anchor = toAnchor(counted, (answer ? first : last)?.seq ?? 0)
      this.steps = step
      this.unseen = []
      this.share()
      this.signals.emit('stepCommitted', { thread: this.thread })
    })
  }

  /** Writes a message to people; none if the reply goes nowhere and `message` names no conversation. */
  async message({ tx, now, afterCommit }: CycleWrite, message: CycleMessage): Promise<void> {
    const { kind, text, author = this.agent.name, data, tells } = message
    const conversation = message.conversation ?? this.target
    if (conversation === null) return
    if (kind === 'agent') await answerMessages(tx, this.thread, conversation)
    const inReplyTo = kind === 'tool' ? [] : userMessages(this.items).map(({ messageId }) => messageId)
    // An agent's message names the cycle, whose streamed text it replaces, and a power below the house's own.
    const all = kind === 'agent' ? { cycle: this.id, ...markOf(this.power), ...data } : data
    const posted = await appendMessage(tx, {
      id: this.#deps.newId('msg'),
      conversation,
      kind,
      author,
      text,
      at: now,
      cycle: this.id,
      ...(inReplyTo.length > 0 ? { inReplyTo } : {}),
      ...(all ? { data: all } : {}),
      tells: tells ?? (kind === 'agent' && inReplyTo.length === 0 ? 'reminders' : undefined),
    })
    afterCommit(() => this.signals.emit('message', posted))
  }

  /** Sends the next text to another conversation, whose turn has come. */
  async redirect({ tx, afterCommit }: CycleWrite, conversation: string): Promise<void> {
    await markAsked(tx, this.id, conversation)
    await redirectCycle(tx, this.id, conversation)
    afterCommit(() => {
      this.target = conversation
    })
  }

  /** Notes that the cycle reads text from outside. */
  async noteForeign({ tx, afterCommit }: CycleWrite): Promise<void> {
    if (this.hasReadForeign) return
    await markReadForeign(tx, this.id)
    afterCommit(() => {
      this.hasReadForeign = true
    })
  }

  /** Takes items along that joined the cycle between two steps. */
  join(items: readonly InboxItem[], resting: ActiveCycle['resting']): void {
    this.items = [...this.items, ...items]
    this.unseen = items
    this.resting = resting
  }

  /** Shows a changed window from now on, and the tools that there are by now. */
  replaceWindow(window: HistoryEntry[], start = this.windowStart): void {
    this.window = window
    this.windowStart = start
    this.#anchor = undefined
    this.#deps.toolLists.renew(this.thread)
  }

  /**
   * Ends the cycle, and its task with `task` if that is given. With `keepsThread` no other cycle begins until
   * `release`.
   */
  async end(
    write: CycleWrite,
    end: {
      status: 'done' | 'failed' | 'stopped' | 'dead'
      note?: string
      task?: CycleEnd
      keepsThread?: boolean
    },
  ): Promise<void> {
    const { tx, now, afterCommit } = write
    const { status, note, task, keepsThread = false } = end
    await endCycle(tx, this.id, { status, at: now, note })
    if (!keepsThread) await releaseThread(tx, this, now)
    const ended = task && (await settleTask(tx, this, now, task))
    afterCommit(() => {
      this.outcome = status
      if (ended) emitEnded(this.signals, ended)
      this.announceEnd()
    })
  }

  /** Tells others that the cycle has ended, once. */
  announceEnd(): void {
    if (this.#isAnnounced) return
    this.#isAnnounced = true
    this.signals.emit('cycleEnded', { cycle: this.id, thread: this.thread })
  }

  /** Suspends the cycle until `until` at the latest: it then goes on from the same point. */
  async suspend(
    until: number,
    why: { suspendedAt: number } | { note: string },
    tell: (write: CycleWrite) => Promise<void>,
  ): Promise<void> {
    await this.commit(async write => {
      await releaseThread(write.tx, this, write.now)
      await suspendCycle(write.tx, { ...this.#key, until, why })
      await tell(write)
    })
    this.outcome = 'suspendedAt' in why ? 'waits_for_provider' : 'waits_for_budget'
    this.signals.emit('dueTimesChanged', { why: 'a cycle waits' })
  }

  /** Ends the wait for the provider, which answered. */
  async endWait({ tx, afterCommit }: CycleWrite): Promise<void> {
    if (this.suspendedAt !== null) await resumeCycle(tx, this.id)
    afterCommit(() => {
      this.suspendedAt = null
      this.hasReportedFailure = false
    })
  }

  /** Frees the thread for another cycle, or for the rest of this one. */
  async release(): Promise<void> {
    await this.#deps.store.write(tx => releaseThread(tx, this, this.now()))
  }

  /** Returns the cycle under a new fence, so that this one can write no more; undefined if it cannot anyway. */
  async seize(): Promise<ActiveCycle | undefined> {
    const fence = await this.#deps.store.write(tx => seizeThread(tx, this.thread, this.fence))
    if (fence === undefined) return undefined
    this.#isAnnounced = true
    return new ActiveCycle(this.#deps, { ...this, fence, window: [...this.window] })
  }
}

const NO_USAGE = { input: 0, output: 0, cachedInput: 0, costMicros: 0, reservation: undefined }
