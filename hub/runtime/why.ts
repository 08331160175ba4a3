import { hash } from 'node:crypto'
import type { StepRequest } from '../../schemas/inbox.ts'
import { HubError } from '../core/errors.ts'
import type { Model, ModelMessage, ModelReply, ModelRequest, ModelTool } from '../core/model.ts'
import { findCycles } from '../store/cycles.ts'
import { type HistoryEntry, historyBetween, stepsOfCycle } from '../store/history.ts'
import { sessionEndingAt } from '../store/sessions.ts'
import type { CycleRow } from '../store/tables.ts'
import { agentOfThread, readThread } from '../store/threads.ts'
import type { ActiveCycle } from './active-cycle.ts'
import type { RuntimeDeps } from './deps.ts'
import { toPreamble } from './prompt.ts'
import { toAgentOf } from './tasks.ts'
import { cutLength, toMessages, toShortened, toThresholds } from './window.ts'

/** A step as it was: what was sent, rebuilt from the history, and what the model answered. */
export interface StepWhy {
  step: number
  /** Missing for steps of earlier versions. */
  request?: StepRequest | undefined
  /** All messages of the request; those from `fresh` on were not in the request of the step before. */
  messages: ModelMessage[]
  fresh: number
  answer: ModelMessage
}

export interface CycleWhy {
  cycle: CycleRow
  steps: StepWhy[]
  /** Prompt and tools as they are now; undefined if the agent's file is gone. */
  preamble: { system: string; tools: readonly ModelTool[]; digest: string } | undefined
}

type Deps = Pick<RuntimeDeps, 'store' | 'toolLists' | 'model' | 'agent'>

/** Characters of an id's beginning that name it. */
const SHORTEST = 4

async function findOne(db: Deps['store']['db'], given: string): Promise<CycleRow> {
  const [cycle, other] = given.length < SHORTEST ? [] : await findCycles(db, given)
  if (!cycle)
    throw new HubError('not_found', `There is no cycle ${given}; superbloom threads show THREAD lists them`)
  if (other && cycle.id !== given)
    throw new HubError(
      'invalid_arguments',
      `${given} begins several ids: ${cycle.id}, ${other.id}, … Write more of the one that you mean.`,
    )
  return cycle
}

/**
 * Creates a function that returns what a cycle sent and got, by its id or the beginning of it. The messages are
 * rebuilt from the append-only history, in the form that each step's window gave them. Prompt and tools are those
 * of today; a step's digest says whether they were the same. Throws `not_found`, or `invalid_arguments` where
 * several ids begin so.
 */
export function createWhy(deps: Deps): (cycle: string) => Promise<CycleWhy> {
  return async given => {
    const { db } = deps.store
    const cycle = await findOne(db, given)
    const { id } = cycle
    const thread = await readThread(db, cycle.thread_id)
    const found = deps.agent(agentOfThread(cycle.thread_id))
    const agent = found && thread && toAgentOf(found, thread)
    const length = agent ? cutLength(toThresholds(deps.model(agent.model), agent.limits.tokens)) : Infinity
    const preamble = agent && toPreamble(deps, { agent, thread: cycle.thread_id })
    const steps: StepWhy[] = []
    let last = 0
    for (const { step, content, request } of await stepsOfCycle(db, id)) {
      if (content.role !== 'assistant') continue
      const entries = request ? await readEntries(deps, cycle.thread_id, request, length) : []
      const before = toMessages(entries.filter(({ seq }) => seq <= last))
      steps.push({ step, request, messages: toMessages(entries), fresh: before.length, answer: content })
      last = request?.to ?? last
    }
    return { cycle, steps, preamble: preamble && { ...preamble, digest: digestOf(preamble) } }
  }
}

async function readEntries(
  { store: { db } }: Deps,
  thread: string,
  request: StepRequest,
  length: number,
): Promise<HistoryEntry[]> {
  const { from, stubs, cuts } = request
  const rows = await historyBetween(db, thread, request)
  const entries = rows.map(row => {
    const form = stubs.includes(row.seq) ? 'stub' : cuts.includes(row.seq) ? 'cut' : 'whole'
    return toShortened({ ...row, form }, length)
  })
  const session = from > 1 ? await sessionEndingAt(db, thread, from - 1) : undefined
  if (!session?.head) return entries
  return [{ seq: from - 1, content: { role: 'user', text: session.head, items: [] } }, ...entries]
}

/** Returns what is stored of a request whose reply came now. */
export function toAsked(
  cycle: ActiveCycle,
  { model, request, reply }: { model: Model; request: ModelRequest; reply: ModelReply },
): NonNullable<ActiveCycle['asked']> {
  const { window, windowStart } = cycle
  const seqsOf = (wanted: string) => window.flatMap(({ seq, form }) => (form === wanted ? seq : []))
  const { currency } = reply.by?.price ?? model.price ?? {}
  return {
    model: reply.by?.name ?? model.name,
    at: request.now,
    ms: cycle.now() - request.now,
    ...(currency === undefined ? {} : { currency }),
    from: windowStart,
    to: window.at(-1)?.seq ?? 0,
    stubs: seqsOf('stub'),
    cuts: seqsOf('cut'),
    preamble: digestOf(request),
  }
}

/** Digests of lists of tools, which stay the same objects for as long as nothing in them changes. */
const digests = new WeakMap<readonly ModelTool[], string>()

function digestOf({ system, tools }: Pick<ModelRequest, 'system' | 'tools'>): string {
  const known = digests.get(tools) ?? hash('sha256', JSON.stringify(tools))
  digests.set(tools, known)
  return hash('sha256', `${known}\n${system}`)
}
