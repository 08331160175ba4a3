import { type ClientFrame, clientFrame, type HubFrame } from '../../schemas/chat.ts'
import { describeProblems } from '../../schemas/problems.ts'
import { parseJson, withoutNul } from '../core/json.ts'
import { truncate } from '../core/text.ts'

/** Bytes of the largest frame that is taken. */
export const LARGEST_FRAME = 1024 * 1024
/** The most characters of an error about a frame, which names the frame's own keys. */
const LONGEST_COMPLAINT = 1_000

export type Problem = { problem: Extract<HubFrame, { type: 'error' }> }

export const TOO_MANY: Problem = {
  problem: { type: 'error', code: 'rate_limited', message: 'Too many frames at once; slow down.' },
}

/** Reads a frame of a client, or says what is wrong with it. */
export function readFrame(data: Buffer): { frame: ClientFrame } | Problem {
  if (data.length > LARGEST_FRAME) {
    const message = `The frame has ${data.length} bytes; at most ${LARGEST_FRAME} are taken.`
    return { problem: { type: 'error', code: 'too_large', message } }
  }
  const value = withoutNul(parseJson(data.toString('utf8')))
  if (value === undefined) {
    return { problem: { type: 'error', code: 'bad_request', message: 'The frame is not JSON.' } }
  }
  const parsed = clientFrame.safeParse(value)
  if (parsed.success) return { frame: parsed.data }
  const message = truncate(describeProblems(parsed.error, 'frame'), LONGEST_COMPLAINT)
  return { problem: { type: 'error', code: 'bad_request', message, ...clientIdOf(value) } }
}

/** Returns the client's own id of a frame, where it has one. */
export function clientIdOf(value: unknown): { clientId?: string } {
  return typeof value === 'object' &&
    value !== null &&
    'clientId' in value &&
    typeof value.clientId === 'string'
    ? { clientId: value.clientId }
    : {}
}
