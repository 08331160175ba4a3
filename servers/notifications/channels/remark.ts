import type { Outgoing } from '../message.ts'

const REMARK = '(Sent again after an interruption; you may have seen this before.)'

/** Adds a remark to the message if an earlier try of it may have arrived. */
export function withRemark(message: Outgoing): Outgoing {
  return message.isDoubtful ? { ...message, text: `${message.text}\n\n${REMARK}` } : message
}
