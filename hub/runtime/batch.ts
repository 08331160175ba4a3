import type { HistoryContent, StoredFact } from '../../schemas/inbox.ts'
import { isAtLeast, type Power } from '../../schemas/power.ts'
import { toIso, toLocal } from '../core/clock.ts'
import type { JsonObject } from '../core/forwarding.ts'
import type { BatchItem, ModelImage } from '../core/model.ts'
import { describeNextRun } from '../core/schedule-plan.ts'
import { showText, toItem } from '../core/show-item.ts'
import { plural, quote, toLine, toSpan, truncate } from '../core/text.ts'
import type { InboxItem } from '../store/inbox.ts'
import type { ApprovalRow, ScheduleRow } from '../store/tables.ts'
import type { RunningTask } from '../store/tasks.ts'
import { type ContextUpdate, describeContext, toContextMark } from './context-update.ts'
import { schemaOf } from './reply.ts'

/** Facts that a batch tells besides its items; they change too often to be part of the prompt. */
export interface BatchFacts {
  now: number
  /** Power of the cycle: words of work with less power are not repeated to it. Default the lowest. */
  power?: Power
  timezone: string
  /** The hub's own time zone; default the same. */
  hubTimezone?: string
  /** The conversation that gets the cycle's final text; null for none. */
  replyTo: string | null
  /** Conversations that the agent may write to. */
  conversations: readonly string[]
  schedules: readonly ScheduleRow[]
  /** Calls of the thread that wait for a person's yes. */
  approvals: readonly ApprovalRow[]
  /** Stored facts: all if the window tells none, else those that changed since; undefined for none. */
  context?: ContextUpdate | undefined
  /** Tasks of the thread that have not ended. */
  tasks?: readonly RunningTask[]
  /** Whether the cycle's final text is the summary of a task. */
  inTask?: boolean
}

export interface BatchMessage {
  role: 'user'
  text: string
  items: BatchItem[]
  tellsContext?: true
  facts?: StoredFact[]
  images?: readonly ModelImage[]
}

/** Returns the user message that begins a cycle. It shows at most `longest` characters of an item's text. */
export function toBatch(
  items: readonly InboxItem[],
  facts: BatchFacts,
  longest = Number.POSITIVE_INFINITY,
): BatchMessage {
  return toMessage(`${BATCH}${plural(items.length, 'event')}]`, items, facts, longest)
}

/** Returns the user message for items that came between two steps. */
export function toUpdate(items: readonly InboxItem[], facts: BatchFacts): BatchMessage {
  return toMessage(`[MID-CYCLE UPDATE - ${plural(items.length, 'event')}]`, items, facts)
}

/** Tells whether facts repeat words of work that a text from outside or a guest began. */
export function tellsForeign({ context }: BatchFacts): boolean {
  return context?.facts.some(({ power }) => power !== undefined) === true
}

/** Returns the message that asks for the answer which a conversation's user message did not get. */
export function toUnanswered(conversation: string, texts: readonly string[], now: number): BatchMessage {
  const item: BatchItem = { kind: 'notice', origin: conversation, text: texts.join('\n'), at: now }
  return {
    role: 'user',
    text: `${QUESTION}${conversation}]\nA message in the conversation ${conversation} got no answer yet. Your next text goes there and nowhere else; no text means no answer.\nThe message:\n${quote(item.text)}`,
    items: [item],
  }
}

/** Characters that a batch shows of a waiting call's arguments, and of a schedule's reason. */
const LONGEST_CALL = 500
const LONGEST_REASON = 500

/** Tasks that each batch lists at most. */
const MOST_TASKS = 20

const QUESTION = '[UNANSWERED - '
const BATCH = '[INBOX - '
const REPAIR = '[ANSWER CHECKED]'

/** Tells whether a content is the message that begins a cycle. */
export function isBatch(content: HistoryContent): boolean {
  return content.role === 'user' && content.text.startsWith(BATCH)
}

/** Tells whether the newest cycle of a window works on the answer that `toUnanswered` asked for. */
export function isOnQuestion(window: readonly { content: HistoryContent }[]): boolean {
  const isQuestion = ({ role, text }: HistoryContent) => role === 'user' && text.startsWith(QUESTION)
  const last = window.findLast(({ content }) => isBatch(content) || isQuestion(content))
  return last !== undefined && isQuestion(last.content)
}

/** Tells whether the newest cycle of a window was asked for its answer once more. */
export function isOnRepair(window: readonly { content: HistoryContent }[]): boolean {
  const isRepair = ({ role, text }: HistoryContent) => role === 'user' && text.startsWith(REPAIR)
  const last = window.findLast(({ content }) => isBatch(content) || isRepair(content))
  return last !== undefined && isRepair(last.content)
}

function toMessage(
  head: string,
  items: readonly InboxItem[],
  facts: BatchFacts,
  longest = Number.POSITIVE_INFINITY,
): BatchMessage {
  const batch = items.map(toItem)
  const parts = [
    head,
    describeTime(facts),
    describeReply(facts),
    describeSchedules(facts),
    ...describeApprovals(facts),
    ...describeTasks(facts),
    ...(facts.context ? [describeContext(facts.context)] : []),
    ...items.map((item, index) => `\n${index + 1}. ${showItem(item, facts.now, longest)}`),
  ]
  const message = { role: 'user' as const, text: parts.join('\n'), items: batch }
  return { ...message, ...toContextMark(facts.context) }
}

function describeTime({ now, timezone, hubTimezone = timezone }: BatchFacts): string {
  const time = `It is ${toLocal(now, timezone)} (${timezone}), ${toIso(now)} in UTC.`
  return hubTimezone === timezone
    ? time
    : `${time} That is the zone of whom you answer, and times are meant in it; the hub's is ${hubTimezone}, so name the zone with the times that you tell.`
}

/** Returns an item with its origin, its age, its text and the schema that its answer must fit. */
export function showItem(item: InboxItem, now: number, longest = Number.POSITIVE_INFINITY): string {
  const { origin, text, at } = toItem(item)
  const shown = `${origin}, ${describeAge(now - at)}:\n${showText(text, { seq: item.seq, longest })}`
  const schema = schemaOf(item)
  return schema
    ? `${shown}\nWho asks wants JSON, and your final text to be nothing else. ${describeSchema(schema)}`
    : shown
}

/** Returns the message that asks once more for an answer, because the first did not fit its schema. */
export function toRepair(schema: JsonObject, problem: string): BatchMessage {
  const text = `${REPAIR}\nYour answer was not taken:\n${quote(problem)}\nAnswer once more, with JSON and nothing else. ${describeSchema(schema)}`
  return { role: 'user', text, items: [] }
}

function describeSchema(schema: JsonObject): string {
  return `It must fit this JSON schema:\n${quote(JSON.stringify(schema))}`
}

function describeReply({ replyTo, conversations, inTask }: BatchFacts): string {
  if (inTask)
    return 'Your final text goes to nobody; it is the summary of your task if nothing is pending then.'
  return replyTo === null
    ? `Your final text goes nowhere; use send_message to tell people something (conversations: ${conversations.join(', ')}).`
    : `Your final text goes to the conversation ${replyTo}.`
}

function describeTasks({ now, power, tasks = [] }: BatchFacts): string[] {
  if (tasks.length === 0) return []
  const lines = tasks
    .slice(0, MOST_TASKS)
    .map(
      task =>
        `- ${task.id}, for ${toSpan(now - task.created_at)}: ${wordsFor(power, task, truncate(toLine(task.instructions ?? ''), 200))}`,
    )
  const rest = tasks.length - lines.length
  if (rest > 0) lines.push(`- and ${rest} more, which list_tasks shows`)
  return [`Running tasks:\n${lines.join('\n')}`]
}

function describeAge(age: number): string {
  return age < 2_000 ? 'just now' : `${toSpan(age)} ago`
}

function describeSchedules({ schedules, power }: BatchFacts): string {
  if (schedules.length === 0) return 'Pending schedules: none.'
  const lines = schedules.map(row => {
    const when = describeNextRun(row.next_run, row.timezone)
    return `- ${row.id}: ${when}: ${wordsFor(power, row, truncate(toLine(row.reason), LONGEST_REASON))}`
  })
  return `Pending schedules:\n${lines.join('\n')}`
}

/** Returns words for a cycle of this power, or in place of words of work with less power what they come from. */
function wordsFor(power: Power = 'foreign', row: { power: Power }, words: string): string {
  return isAtLeast(row.power, power) ? words : `(${FROM[row.power]})`
}

const FROM: Record<Power, string> = {
  person: 'a person asked for it',
  routine: 'an event or a schedule led to it',
  guest: 'a guest asked for it',
  foreign: 'a text from outside led to it',
}

function describeApprovals({ approvals, now, power }: BatchFacts): string[] {
  if (approvals.length === 0) return []
  const lines = approvals.map(row => {
    const args = wordsFor(power, row, toLine(truncate(row.arguments, LONGEST_CALL)))
    return `- ${row.id}: ${row.tool} ${args}, open for another ${toSpan(row.expires_at - now)}`
  })
  return [`Open approvals, which a person decides:\n${lines.join('\n')}`]
}
