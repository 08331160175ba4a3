import type { Approval, HubFrame } from '../../schemas/chat.ts'
import { systemClock } from '../core/clock.ts'
import { describeError, HubError } from '../core/errors.ts'
import { parseJson } from '../core/json.ts'
import { connectTo, readError } from './chat-socket.ts'
import type { WrittenDecision } from './decision.ts'
import type { RunningHub } from './find-hub.ts'

const LONGEST_MS = 30_000

/**
 * Decides an approval at `/ws`, because no tool of the hub can. Returns the decided approval. Throws
 * `unavailable` with the hub's own words where it refuses, or with the reason why it does not answer.
 */
export async function sendDecision(hub: RunningHub, decision: WrittenDecision): Promise<Approval> {
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
