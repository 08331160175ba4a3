import type { MessageButton } from '../../schemas/message-buttons.ts'
import { OWNER } from '../../schemas/tokens.ts'
import { toLocal } from '../core/clock.ts'
import { isObject } from '../core/forwarding.ts'
import { parseJson } from '../core/json.ts'
import { maskSecrets } from '../core/mask-secrets.ts'
import { escapeUnseen, toLine, truncate } from '../core/text.ts'
import type { ApprovalRow, MessageRow } from '../store/tables.ts'

/** The most characters that are shown of arguments, and of a reason. */
const LONGEST = 600

/** A notification, without its buttons. */
export interface Notice {
  title: string
  /** Markdown. */
  message: string
  /** The address to open, for channels whose messages do not lead there by themselves. */
  footer: string | undefined
  /** The conversation that it is about; null for none. */
  conversation: string | null
}

/** The hub's page and its time zone. */
export interface NoticePlace {
  page: string | undefined
  timezone: string
}

/**
 * Tells of an approval: who asks for what, whose words led to it, why a person decides, until when, and where. Text of
 * others is shown as code, so that it makes no link and no paragraph of its own. `isWhole`: it shows the whole call;
 * nobody approves by a button what the message leaves out.
 */
export function toApprovalNotice(
  { agent, tool, arguments: args, reason, question_json, conversation_id, expires_at }: ApprovalRow,
  { page, timezone }: NoticePlace,
  askedBy: readonly string[] = [],
): Notice & { isWhole: boolean } {
  const isQuestion = question_json !== null
  const call = showCall(args)
  const paragraphs = [
    isQuestion
      ? `The server of ${toCode(tool)} asks during a call of ${agent}: ${toCode(reason)}`
      : `${agent} wants to call ${toCode(tool)} with ${call.text}`,
    ...(askedBy.some(one => one !== OWNER) ? [`Asked by ${toCode(askedBy.join(', '))}.`] : []),
    ...(isQuestion ? [] : [`Why a person decides: ${toCode(reason)}`]),
    ...(call.isWhole || isQuestion ? [] : ['This is not all of it: the page shows the rest.']),
    `It expires on ${toLocal(expires_at, timezone)} (${timezone}).`,
  ]
  const footer =
    toLink(page, conversation_id) ??
    "Answer on the hub's page. Messages lead there once the hub has a public address."

  const title = isQuestion ? `A question of ${tool}` : `${agent} asks for ${tool}`
  return {
    title: escapeUnseen(toLine(title)),
    message: paragraphs.join('\n\n'),
    footer,
    conversation: conversation_id,
    isWhole: call.isWhole,
  }
}

/** Tells what became of an approval. */
export function toOutcome({ status, decided_by, decided_where }: ApprovalRow): string {
  const who = decided_where === null || decided_by === null ? '' : ` by ${decided_by}`
  return escapeUnseen(toLine(`It is ${status}${who}.`))
}

/** Tells of a message in a conversation. What a text from outside led to is shown as code, so that it makes no link. */
export function toMessageNotice(
  { author, text, conversation_id, data_json }: MessageRow,
  { page }: NoticePlace,
): Notice {
  const data = data_json === null ? undefined : parseJson(data_json)
  const power = isObject(data) ? data['power'] : undefined
  const shown = power === undefined ? truncate(escapeUnseen(text), LONGEST) : toCode(text)
  const why = typeof power === 'string' ? ` (${LED_BY[power] ?? power})` : ''
  const where = author === conversation_id ? '' : ` in ${conversation_id}`
  return {
    title: escapeUnseen(toLine(`${author}${where}${why}`)),
    message: shown,
    footer: toLink(page, conversation_id),
    conversation: conversation_id,
  }
}

const LED_BY: Record<string, string> = { foreign: 'led by a text from outside', guest: 'asked by a guest' }

function toLink(page: string | undefined, conversation: string | null): string | undefined {
  return page && `${page}/${conversation === null ? '' : `#c=${encodeURIComponent(conversation)}`}`
}

/** Returns the buttons that answer an approval with a key; without `page`, their addresses are relative to it. */
export function toButtons(page: string | undefined, key: string): MessageButton[] {
  const button = (label: string, decision: 'approve' | 'deny') => ({
    label,
    url: `${page === undefined ? '' : `${page}/`}a/${key}`,
    body: JSON.stringify({ decision }),
  })
  return [button('Approve', 'approve'), button('Deny', 'deny')]
}

/** Shows the arguments of a call without their secrets, cut where they are long. */
function showCall(args: string): { text: string; isWhole: boolean } {
  const parsed = parseJson(args.trim() || '{}')
  if (parsed === undefined) return { text: toCode(args), isWhole: false }
  const shown = JSON.stringify(maskSecrets(parsed, 'arguments'))
  const isWhole =
    shown === JSON.stringify(parsed) && toCode(shown) === toCode(shown, Number.POSITIVE_INFINITY)
  return { text: toCode(shown), isWhole }
}

function toCode(text: string, longest = LONGEST): string {
  return `\`${truncate(escapeUnseen(toLine(text)).replaceAll('`', '\\u0060'), longest)}\``
}
