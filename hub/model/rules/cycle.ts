import { createHash } from 'node:crypto'
import { parseJson } from '../../core/json.ts'
import type { BatchItem, ModelCall, ModelMessage } from '../../core/model.ts'
import { ENDING_TOOLS } from './catalogue.ts'
import { isRecord, type Question, readQuestion } from './questions.ts'
import type { Outcome } from './results.ts'

type UserMessage = ModelMessage & { role: 'user' }

/** Something that has to be answered, with what was done for it so far in this cycle. */
export interface OpenItem {
  item: BatchItem
  outcomes: Outcome[]
  /** A message of a conversation that the reply does not go to; the hub asks about it afterwards. */
  elsewhere: boolean
  /** What this model had asked before, if this item is the next message from there. */
  question?: Question
  /** The id for the item's next call: the same whenever the cycle is resumed at this point. */
  nextCallId: string
}

/** The present cycle as the window shows it. */
export interface Cycle {
  items: OpenItem[]
  /** Results that belong to no item, for instance because compaction took the item. */
  strays: Outcome[]
  /** A reply with text stands in the window already. */
  introduced: boolean
}

/** Everything from the newest batch on, mid-cycle updates with it. */
export function readCycle(messages: ModelMessage[]): Cycle {
  const start = startOf(messages)
  const users = messages.flatMap((message, index) => (message.role === 'user' ? [{ message, index }] : []))
  const present = users.filter(({ index }) => index >= start)
  const placed = toAnswer(present)
  const elsewhere = outside(present)
  const seen = new Map<string, number>()
  const items = placed.map(({ item, message, position }) => {
    const base = JSON.stringify([item.kind, item.at, item.origin, item.text])
    const repeat = seen.get(base) ?? 0
    seen.set(base, repeat + 1)
    const key = createHash('sha256').update(`${base}${repeat}`).digest('hex').slice(0, 10)
    const outcomes = outcomesOf(messages.slice(start), key)
    const question = item.kind === 'message' ? questionFor(messages, message, position, item) : undefined
    return {
      item,
      outcomes,
      elsewhere: elsewhere(item),
      ...(question ? { question } : {}),
      nextCallId: `rules_${start}_${key}_${outcomes.length}`,
    }
  })
  const introduced = messages.some(message => message.role === 'assistant' && message.text.trim() !== '')
  return { items, strays: items.length > 0 ? [] : straysOf(messages.slice(start)), introduced }
}

function startOf(messages: ModelMessage[]): number {
  return Math.max(
    0,
    messages.findLastIndex(
      (message, index) => message.role === 'user' && isStart(message, messages[index - 1]),
    ),
  )
}

function isStart(message: UserMessage, before: ModelMessage | undefined): boolean {
  if (message.text.startsWith('[INBOX')) return true
  if (/^\[(?:MID-CYCLE|UNANSWERED)/.test(message.text)) return false
  if (before === undefined) return true
  if (before.role === 'assistant') return before.calls.length === 0
  return before.role === 'tool' && ENDING_TOOLS.includes(before.name) && !before.isError
}

interface Placed {
  item: BatchItem
  /** Index of the message in the window, and of the item in the message. */
  message: number
  position: number
}

function toAnswer(users: { message: UserMessage; index: number }[]): Placed[] {
  const place = (user: { message: UserMessage; index: number }) =>
    user.message.items.map((item, position) => ({ item, message: user.index, position }))
  const all = users.flatMap(place)
  const last = users.at(-1)
  if (!last) return all
  if (last.message.text.startsWith('[UNANSWERED')) return toUnanswered(all, last.message, last.index)
  if (all.length > 0) return all
  const text = last.message.text.replace(/^\[[^\]\n]{0,200}\]\s*/, '')
  return [{ item: { kind: 'message', origin: '', text, at: 0 }, message: last.index, position: 0 }]
}

/** Tells messages of other conversations than the reply goes to: the newest message's of the cycle's first batch. */
function outside(users: { message: UserMessage }[]): (item: BatchItem) => boolean {
  const target = users[0]?.message.items.findLast(item => item.kind === 'message')
  const asked = users.at(-1)?.message.text.startsWith('[UNANSWERED')
  if (!target || asked) return () => false
  return item => item.kind === 'message' && placeOf(item) !== placeOf(target)
}

/** The messages of the conversation that the hub asks about; where compaction took them, what the hub repeats of them. */
function toUnanswered(all: Placed[], asked: UserMessage, index: number): Placed[] {
  const [repeated] = asked.items
  const conversation = repeated?.origin ?? /^\[UNANSWERED - ([^\]\n]*)\]/.exec(asked.text)?.[1] ?? ''
  const own = all.filter(({ item }) => item.kind === 'message' && placeOf(item).endsWith(` ${conversation}`))
  if (own.length > 0) return own
  const text = repeated?.text ?? asked.text
  return [
    { item: { kind: 'message', origin: ` in ${conversation}`, text, at: 0 }, message: index, position: 0 },
  ]
}

/** The results of this model's calls for an item, in order. */
function outcomesOf(cycle: ModelMessage[], key: string): Outcome[] {
  const calls = cycle.flatMap(message => (message.role === 'assistant' ? message.calls : []))
  const outcomes: Outcome[] = []
  for (;;) {
    const call = calls.find(each => each.id.endsWith(`_${key}_${outcomes.length}`))
    if (!call) return outcomes
    outcomes.push(toOutcome(call, cycle))
  }
}

function toOutcome(call: ModelCall, cycle: ModelMessage[]): Outcome {
  const values = parseJson(call.arguments)
  const result = cycle.find(message => message.role === 'tool' && message.callId === call.id)
  const base = { name: call.name, arguments: isRecord(values) ? values : {} }
  if (result?.role !== 'tool') return { ...base, text: 'no result was recorded', isError: true }
  return { ...base, text: result.text, isError: result.isError, structured: result.structured }
}

function straysOf(cycle: ModelMessage[]): Outcome[] {
  const last = cycle.findLastIndex(message => message.role !== 'tool')
  return cycle.slice(last + 1).flatMap(message => {
    if (message.role !== 'tool') return []
    const { name, text, isError, structured } = message
    return [{ name, arguments: {}, text, isError, structured }]
  })
}

/** The conversation that a message came from, as its origin says it: "alex in homelab" → "homelab". */
function placeOf(item: BatchItem): string {
  return item.origin.slice(item.origin.lastIndexOf(' in ') + 1)
}

/** The question that the newest reply to the item's conversation ended with, unless a message answered it already. */
function questionFor(
  messages: ModelMessage[],
  at: number,
  position: number,
  item: BatchItem,
): Question | undefined {
  const place = placeOf(item)
  const isHere = (each: BatchItem) => each.kind === 'message' && placeOf(each) === place
  const own = messages[at]
  if (own?.role === 'user' && own.items.slice(0, position).some(isHere)) return undefined
  for (let index = at - 1; index >= 0; index--) {
    const message = messages[index]
    if (message?.role === 'user' && message.items.some(isHere)) return undefined
    const question = message?.role === 'assistant' ? readQuestion(message.text) : undefined
    if (question && wentTo(messages.slice(0, index), place)) return question
  }
  return undefined
}

/** Whether the reply after these messages went to the place: to the conversation of the newest message of a person. */
function wentTo(before: ModelMessage[], place: string): boolean {
  const people = before.flatMap(message =>
    message.role === 'user' ? message.items.filter(item => item.kind === 'message') : [],
  )
  const newest = people.at(-1)
  return newest === undefined || placeOf(newest) === place
}
