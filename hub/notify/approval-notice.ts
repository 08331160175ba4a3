import type { MessageButton } from '../../schemas/message-buttons.ts'
import { toLocal } from '../core/clock.ts'
import { parseJson } from '../core/json.ts'
import { maskSecrets } from '../core/mask-secrets.ts'
import { escapeUnseen, toLine, truncate } from '../core/text.ts'
import type { ApprovalRow } from '../store/tables.ts'

/** The most characters that are shown of arguments, and of a reason. */
const LONGEST = 600

export interface Notice {
  title: string
  /** Markdown. */
  message: string
  /** Whether it shows the whole call: nobody approves by a button what the message leaves out. */
  isWhole: boolean
}

/**
 * Tells of an approval: who asks for what, why a person decides, until when, and where. Text of others is shown
 * as code, so that it makes no link and no paragraph of its own.
 */
export function toNotice(
  { agent, tool, arguments: args, reason, question_json, conversation_id, expires_at }: ApprovalRow,
  { page, timezone }: { page: string | undefined; timezone: string },
): Notice {
  const isQuestion = question_json !== null
  const call = toCode(showCall(args))
  const where = conversation_id === null ? '' : `#c=${encodeURIComponent(conversation_id)}`
  const paragraphs = [
    isQuestion
      ? `The server of ${toCode(tool).text} asks during a call of ${agent}: ${toCode(reason).text}`
      : `${agent} wants to call ${toCode(tool).text} with ${call.text}`,
    ...(isQuestion ? [] : [`Why a person decides: ${toCode(reason).text}`]),
    `It expires on ${toLocal(expires_at, timezone)} (${timezone}).`,
    page === undefined ? "Answer on the hub's page, or with `superbloom approvals`." : `${page}/${where}`,
  ]
  const title = isQuestion ? `A question of ${tool}` : `${agent} asks for ${tool}`
  return { title: escapeUnseen(toLine(title)), message: paragraphs.join('\n\n'), isWhole: call.isWhole }
}

/** Returns the buttons that answer an approval with a key. */
export function toButtons(page: string, key: string): MessageButton[] {
  const button = (label: string, decision: 'approve' | 'deny') => ({
    label,
    url: `${page}/a/${key}`,
    body: JSON.stringify({ decision }),
  })
  return [button('Approve', 'approve'), button('Deny', 'deny')]
}

function showCall(args: string): string {
  const parsed = parseJson(args)
  return parsed === undefined ? args : JSON.stringify(maskSecrets(parsed, 'arguments'))
}

function toCode(text: string): { text: string; isWhole: boolean } {
  const whole = escapeUnseen(toLine(text)).replaceAll('`', '\\u0060')
  return { text: `\`${truncate(whole, LONGEST)}\``, isWhole: whole.length <= LONGEST }
}
