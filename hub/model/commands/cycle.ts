import { createHash } from 'node:crypto'
import type { BatchItem, ModelMessage, UserMessage } from '../../core/model.ts'

/** A call of this model with its result. */
export interface Outcome {
  name: string
  text: string
  isError: boolean
  structured?: unknown
}

/** Tools whose call ends the cycle after its step. */
const ENDING_TOOLS = ['schedule_wake', 'complete_task']

/** An item that has to be answered, with what was done for it so far in this cycle. */
export interface OpenItem {
  item: BatchItem
  outcomes: Outcome[]
  /** True for a message of another conversation than the reply's; the hub asks about it afterwards. */
  elsewhere: boolean
  /** Id of the item's next call: the same whenever the cycle is resumed at this point. */
  nextCallId: string
}

/** The current cycle as the window shows it. */
export interface Cycle {
  items: OpenItem[]
  /** Results that belong to no item, for instance because compaction removed the item. */
  strays: Outcome[]
  /** The conversation for the text about the items, if the agent's final text goes nowhere. */
  announceIn: string | undefined
}

/** The tool that sends a text about items to people. */
export const ANNOUNCE = 'send_message'
const NOWHERE = /^Your final text goes nowhere; use send_message .*\(conversations: ([^,)\s]+)/m

/** Reads everything from the newest batch on, with mid-cycle updates. */
export function readCycle(messages: ModelMessage[]): Cycle {
  const isFirst = (message: ModelMessage, index: number) =>
    message.role === 'user' && isStart(message, messages[index - 1])
  const start = Math.max(0, messages.findLastIndex(isFirst))
  const cycle = messages.slice(start)
  const users = cycle.filter(message => message.role === 'user')
  const isAsked = users.at(-1)?.text.startsWith('[UNANSWERED') === true
  const announceIn = isAsked ? undefined : NOWHERE.exec(users[0]?.text ?? '')?.[1]
  const elsewhere = isAsked ? () => false : outside(users, announceIn !== undefined)
  const seen = new Map<string, number>()
  // What came before the text that people have already got about the items is answered.
  const announced = cycle.findLastIndex(message => message.role === 'tool' && message.name === ANNOUNCE)
  const isUser = (message: ModelMessage) => message.role === 'user'
  const answered = announceIn === undefined ? users : cycle.slice(announced + 1).filter(isUser)
  const items = toAnswer(answered).map(item => {
    const base = JSON.stringify([item.kind, item.at, item.origin, item.text])
    const repeat = seen.get(base) ?? 0
    seen.set(base, repeat + 1)
    const key = createHash('sha256').update(`${base}${repeat}`).digest('hex').slice(0, 10)
    const outcomes = outcomesOf(cycle, key)
    return {
      item,
      outcomes,
      elsewhere: elsewhere(item),
      nextCallId: `commands_${start}_${key}_${outcomes.length}`,
    }
  })
  const last = cycle.findLastIndex(({ role }) => role !== 'tool')
  const results = cycle.slice(last + 1).filter(message => message.role === 'tool')
  return { items, strays: items.length > 0 || announceIn !== undefined ? [] : results, announceIn }
}

function isStart(message: UserMessage, before: ModelMessage | undefined): boolean {
  if (message.text.startsWith('[INBOX')) return true
  if (/^\[(?:MID-CYCLE|UNANSWERED)/.test(message.text)) return false
  if (before === undefined) return true
  if (before.role === 'assistant') return before.calls.length === 0
  return before.role === 'tool' && ENDING_TOOLS.includes(before.name) && !before.isError
}

function toAnswer(users: UserMessage[]): BatchItem[] {
  const all = users.flatMap(({ items }) => items)
  const last = users.at(-1)
  if (last?.text.startsWith('[UNANSWERED')) return toUnanswered(all, last)
  if (all.length > 0 || !last) return all
  const text = last.text.replace(/^\[[^\]\n]{0,200}\]\s*/, '')
  return [{ kind: 'message', origin: '', text, at: 0 }]
}

/**
 * Returns a function that finds messages of other conversations. The reply goes to the conversation of the
 * newest message in the cycle's first batch, or nowhere.
 */
function outside(users: UserMessage[], isNowhere: boolean): (item: BatchItem) => boolean {
  const target = users[0]?.items.findLast(item => item.kind === 'message')
  if (!target) return item => isNowhere && item.kind === 'message'
  return item => item.kind === 'message' && placeOf(item) !== placeOf(target)
}

/**
 * Returns the messages of the conversation that the hub asks about, or the hub's text where compaction
 * removed them.
 */
function toUnanswered(all: BatchItem[], asked: UserMessage): BatchItem[] {
  const [repeated] = asked.items
  const conversation = repeated?.origin ?? /^\[UNANSWERED - ([^\]\n]*)\]/.exec(asked.text)?.[1] ?? ''
  const own = all.filter(item => item.kind === 'message' && placeOf(item).endsWith(` ${conversation}`))
  if (own.length > 0) return own
  return [{ kind: 'message', origin: ` in ${conversation}`, text: repeated?.text ?? asked.text, at: 0 }]
}

/** Returns the results of this model's calls for an item, in order. */
function outcomesOf(cycle: ModelMessage[], key: string): Outcome[] {
  const calls = cycle.flatMap(message => (message.role === 'assistant' ? message.calls : []))
  const outcomes: Outcome[] = []
  for (;;) {
    const call = calls.find(each => each.id.endsWith(`_${key}_${outcomes.length}`))
    if (!call) return outcomes
    const result = cycle.find(message => message.role === 'tool' && message.callId === call.id)
    const missing = { name: call.name, text: 'no result was recorded', isError: true }
    outcomes.push(result?.role === 'tool' ? result : missing)
  }
}

/** Returns the conversation that a message came from, by its origin: "alex in homelab" → "in homelab". */
function placeOf(item: BatchItem): string {
  return item.origin.slice(item.origin.lastIndexOf(' in ') + 1)
}
