import { z } from 'zod'
import type { Approval } from '../../../schemas/chat.ts'
import type { Power } from '../../../schemas/power.ts'
import { HUB } from '../../../schemas/tokens.ts'
import { HubError } from '../../core/errors.ts'
import { describeField, type Field, field, readFields } from '../../core/form-fields.ts'
import type { JsonObject, Requester } from '../../core/forwarding.ts'
import { ELICITATION, QUESTION_MS } from '../../core/server-question.ts'
import { createApproval, decideOpen, readAsked, toApproval } from '../../store/approvals.ts'
import { waitCall } from '../../store/ledger.ts'
import type { ApprovalRow, ToolCallRow } from '../../store/tables.ts'
import type { Tx } from '../../store/writer.ts'
import { appendAbout } from '../answer-approval.ts'
import { showCall, toCallMessage, toWaiting } from '../calls.ts'
import type { RuntimeDeps, Sample } from '../deps.ts'
import { fillForm } from './fill-form.ts'

type Deps = Pick<RuntimeDeps, 'store' | 'clock' | 'newId' | 'signals'>

/** The call of an agent during which a server asks. */
export interface AskingCall {
  agent: string
  thread: string
  cycle: string
  /** Power of the work that the call is part of. */
  power: Power
  conversation: string | null
  row: ToolCallRow
  /** Tells whether a cycle waits for the call, as it does until a person is asked. */
  isAwaited(): boolean
  /** Throws if another process has the call by now. */
  guard(tx: Tx): Promise<void>
  /** Lets the cycle go on: the call waits for this question instead, and its outcome comes to the inbox. */
  detach(question: ApprovalRow): void
  /** Pauses the call's deadline while a person is waited for, until the returned function is called. */
  pause(): () => void
}

/** Questions that one call may ask, so that a server cannot ask for ever. */
const MOST_QUESTIONS = 20

/**
 * Answers what a server asks during one call of an agent: a person of its conversation decides, and its model
 * writes with `sample`, if the server may. Disposing it ends what is still open.
 */
export function openAsker(
  deps: Deps,
  call: AskingCall,
  sample: Sample | undefined,
): Requester & AsyncDisposable {
  const ended = new AbortController()
  const open = new Set<Promise<JsonObject>>()
  let count = 0
  const answer = (method: string, params: JsonObject, signal: AbortSignal) => {
    if (++count > MOST_QUESTIONS)
      throw new HubError('rate_limited', `One call may ask ${MOST_QUESTIONS} times at most`)
    if (method === ELICITATION) return askPerson(deps, call, params, signal)
    if (method === 'sampling/createMessage' && sample) return sample(params, signal)
    if (method === 'sampling/createMessage') throw new HubError('forbidden', NO_SAMPLING)
    throw new HubError('bad_request', `Agents do not answer ${method}`)
  }
  return {
    key: call.thread,
    capabilities: { elicitation: { form: {}, url: {} }, ...(sample ? { sampling: {} } : {}) },
    repeats: false,
    async ask(method, params, signal) {
      const asked = answer(method, params, AbortSignal.any([signal, ended.signal]))
      open.add(asked)
      try {
        return await asked
      } finally {
        open.delete(asked)
      }
    },
    async [Symbol.asyncDispose]() {
      ended.abort(new HubError('conflict', 'The call has ended'))
      await Promise.allSettled(open)
    },
  }
}

const NO_SAMPLING =
  "This server may not use the agent's model. Its entry in the hub's config allows that with sampling: true."

/**
 * Answers an `elicitation/create`: a person decides on an approval, whose note holds what the server wants to
 * know. The cycle does not wait for it. Throws if the question itself is wrong, and the signal's reason; no
 * question stays open then.
 */
async function askPerson(
  deps: Deps,
  call: AskingCall,
  params: JsonObject,
  signal: AbortSignal,
): Promise<JsonObject> {
  // The params are quoted and checked by `quoteQuestion`. A page that is to be opened has no fields.
  const fields = params['mode'] === 'url' ? undefined : readFields(params['requestedSchema'])
  signal.throwIfAborted()
  const question = toRow(deps, call, params, fields)
  const decided = Promise.withResolvers<Approval>()
  const off = deps.signals.on('approval', one => {
    if (one.id === question.id && one.status !== 'open') decided.resolve(one)
  })
  const onEnded = () => void close(deps, question.id).catch(decided.reject)
  let resume: (() => void) | undefined
  try {
    await open(deps, call, question)
    resume = call.pause()
    if (signal.aborted) onEnded()
    else signal.addEventListener('abort', onEnded, { once: true })
    const { status, decidedBy, note } = await decided.promise
    signal.throwIfAborted()
    if (status === 'approved') return toAnswer(fields, note)
    return { action: status === 'denied' && decidedBy !== HUB ? 'decline' : 'cancel' }
  } finally {
    off()
    signal.removeEventListener('abort', onEnded)
    resume?.()
    showCall(deps.signals, call, call.row, 'started')
  }
}

function toRow(
  { newId, clock }: Deps,
  { row, ...call }: AskingCall,
  { message, url }: JsonObject,
  fields: Field[] | undefined,
) {
  const now = clock.now()
  const id = newId('apr')
  const wants = fields && Object.fromEntries(fields.map(one => [one.name, describeField(one)]))
  return {
    id,
    // A call waits for its first question, which has the call's id. A further question has its own id.
    call_id: call.isAwaited() ? row.id : id,
    thread_id: call.thread,
    cycle_id: call.cycle,
    power: call.power,
    agent: call.agent,
    tool: row.tool,
    arguments: JSON.stringify(wants ? { wants } : { opens: url }),
    arguments_hash: '',
    reason: String(message),
    conversation_id: call.conversation,
    status: 'open' as const,
    created_at: now,
    expires_at: now + QUESTION_MS,
    question_json: JSON.stringify({ fields }),
  }
}

/** Returns the answer of a person who said yes. */
function toAnswer(fields: Field[] | undefined, note: string | undefined): JsonObject {
  return fields ? { action: 'accept', content: fillForm(fields, note) } : { action: 'accept' }
}

const stored = z.object({ fields: z.array(field).optional() })

/** Throws `invalid_arguments` with what is wanted if a note does not answer a stored question. */
export function checkNote(question: string, note: string | undefined): void {
  toAnswer(stored.parse(JSON.parse(question)).fields, note)
}

/** Writes the question down and shows it. */
async function open(deps: Deps, call: AskingCall, question: ReturnType<typeof toRow>): Promise<void> {
  const { row } = call
  const { approval, asked, message } = await deps.store.write(async tx => {
    await call.guard(tx)
    const approval = await createApproval(tx, question)
    const waiting = toWaiting(approval.id)
    if (isOwn(approval)) await waitCall(tx, row.id, approval.id, waiting)
    const outcome = { ...waiting, text: `${waiting.text}: ${approval.reason}` }
    const told = toCallMessage({ row, outcome, status: 'waiting' }, { approval: approval.id })
    const message = await appendAbout(deps, tx, approval, told)
    return { approval, asked: await readAsked(tx, approval), message }
  })
  showCall(deps.signals, call, row, 'waiting', approval.reason)
  if (message) deps.signals.emit('message', message)
  deps.signals.emit('approval', asked)
  if (isOwn(approval)) call.detach(approval)
}

/** Tells whether a call waits for the question; the outcome of that call then answers it. */
export function isOwn({ id, call_id }: Pick<ApprovalRow, 'id' | 'call_id'>): boolean {
  return call_id !== id
}

/** Closes a question that nobody waits for any more; a decision that somebody made stays. */
async function close(deps: Deps, id: string): Promise<void> {
  const end = { status: 'expired', at: deps.clock.now(), by: HUB, where: null, note: OVER } as const
  const done = await deps.store.write(async tx => {
    const row = await decideOpen(tx, id, end)
    return row && { row, message: await appendAbout(deps, tx, row, toClosed(row, OVER)) }
  })
  if (!done) return
  if (done.message) deps.signals.emit('message', done.message)
  deps.signals.emit('approval', toApproval(done.row))
}

const OVER = 'The server asks no longer: its call is over, or waited as long as it would.'

/** Returns the notice that a question was closed without an answer. */
export function toClosed({ id, tool }: Pick<ApprovalRow, 'id' | 'tool'>, why: string) {
  return {
    kind: 'notice' as const,
    author: HUB,
    text: `The question of ${tool} is closed. ${why}`,
    data: { approval: id },
  }
}
