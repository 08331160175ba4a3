import type { Approval, HubFrame } from '../../schemas/chat.ts'
import { span } from '../../schemas/duration.ts'
import { systemClock } from '../core/clock.ts'
import { describeError, HubError } from '../core/errors.ts'
import { parseJson } from '../core/json.ts'
import { callHub } from './call-hub.ts'
import { connectTo, type Decision, readError } from './chat-socket.ts'
import type { RunningHub } from './find-hub.ts'
import { findId } from './short-ids.ts'

export const DECISION_USAGE =
  'Write /approve 3 [note] or /deny 3 [note]; /approve 3 always 1d also lets further calls of the tool run for a day.'

/**
 * Reads `/approve ID [always 1d] [note]` or `/deny ID [note]`: `incomplete` without ID, undefined for other
 * text. The slash may be left away before a number.
 */
export function parseDecision(line: string): Decision | 'incomplete' | undefined {
  const [first = '', approval, ...rest] = line.trim().split(/\s+/)
  const command = first.startsWith('/') || !/^\d+$/.test(approval ?? '') ? first : `/${first}`
  if (command !== '/approve' && command !== '/deny') return undefined
  if (approval === undefined) return 'incomplete'
  const isAlways = command === '/approve' && rest[0] === 'always' && span.safeParse(rest[1]).success
  const [, always] = isAlways ? rest.splice(0, 2) : []
  const note = rest.join(' ')
  return {
    approval,
    decision: command === '/approve' ? 'approve' : 'deny',
    ...(always === undefined ? {} : { always }),
    ...(note === '' ? {} : { note }),
  }
}

export async function readOpenApprovals(hub: RunningHub, conversation: string): Promise<Approval[]> {
  const open = await readApprovals(hub, { status: 'open' })
  return open.filter(approval => approval.conversation === conversation)
}

async function readApprovals(hub: RunningHub, filter: object): Promise<Approval[]> {
  const { structured } = await callHub(hub, 'hub_list_approvals', { ...filter })
  return (structured as { approvals: Approval[] }).approvals
}

const LONGEST_MS = 30_000

/**
 * Decides an approval, which may be named in short, at `/ws`, because no tool of the hub can. Returns the
 * decided approval. Throws `unavailable` with the hub's own words where it refuses, or with the reason why it
 * does not answer.
 */
export async function sendDecision(hub: RunningHub, given: Decision): Promise<Approval> {
  const decision = { ...given, approval: findId(given.approval, await readApprovals(hub, {})) }
  const { promise, resolve, reject } = Promise.withResolvers<Approval>()
  const fail = (why: string, cause?: unknown) => reject(new HubError('unavailable', why, { cause }))
  const socket = connectTo(hub)
  const cancel = systemClock.after(LONGEST_MS, () => fail(`The hub at ${hub.url} does not answer. ${LOOK}`))
  let decided: Approval | undefined
  const onFrame = (frame: HubFrame) => {
    if (frame.type === 'error') fail(frame.message)
    if (frame.type === 'approval' && frame.approval.id === decision.approval) decided = frame.approval
    if (frame.type !== 'pong') return
    if (decided) resolve(decided)
    else fail(`The hub did not say what became of ${decision.approval}. ${LOOK}`)
  }
  socket.on('open', () => {
    socket.send(JSON.stringify({ type: 'decide', ...decision }))
    // The hub answers frames in order, so that the decision arrives before this pong.
    socket.send(JSON.stringify({ type: 'ping' }))
  })
  socket.on('message', data => onFrame(parseJson(data.toString()) as HubFrame))
  socket.on('unexpected-response', (_request, response) => void readError(response).then(fail, fail))
  socket.on('error', error => fail(`The hub at ${hub.url} does not answer: ${describeError(error)}`, error))
  socket.on('close', () => fail(`The hub at ${hub.url} went away before it answered. ${LOOK}`))
  try {
    return await promise
  } finally {
    cancel()
    socket.terminate()
  }
}

const LOOK = 'superbloom approvals --all shows what was decided.'
