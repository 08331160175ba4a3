import { parseJson } from '../../core/json.ts'
import type { BatchItem, ModelCall, ModelMessage, ModelRequest } from '../../core/model.ts'
import { GO_ON } from '../../core/show-item.ts'
import { toSentence, truncate } from '../../core/text.ts'
import type { FoundModels } from '../find-models.ts'
import { ANNOUNCE, type OpenItem, readCycle } from './cycle.ts'
import { decideMessage } from './decide-message.ts'
import { isModelQuestion, NO_MODEL } from './help.ts'
import { type Plan, type Scene, say, wordOutcome } from './plan.ts'

export interface Decision {
  text: string
  calls: ModelCall[]
}

interface Decided {
  open: OpenItem
  plan: Plan
}

const LONGEST_REPLY = 8000
const LONGEST_DETAILS = 1500

/**
 * Decides the answer to a window: calls while an item of the cycle needs one, then one reply to all items.
 * Pure. Calls that end the cycle wait until everything else is answered, since the text beside them is the
 * reply.
 */
export function decideReply(request: ModelRequest, models?: FoundModels): Decision {
  const { tools, now, timezone, messages } = request
  const scene: Scene = { tools, now, timezone, models }
  const cycle = readCycle(messages)
  const decided = decideItems(cycle.items, open => decideItem(open, scene))
  const calls = decided.filter(each => each.plan.kind === 'call').flatMap(toCall)
  if (calls.length > 0) return { text: '', calls }
  const told = [...cycle.strays.map(wordOutcome), ...toParagraphs(decided)].join('\n\n')
  const said = isTask(messages) ? `${NO_MODEL}, so nobody works on this task. ${told}` : told
  const isAsked = cycle.items.some(({ item }) => item.kind === 'message')
  const isFirst = isAsked && !messages.some(({ role, text }) => role === 'assistant' && text !== '')
  const room = Math.min(LONGEST_REPLY, request.maxOutput * 3)
  const text = isFirst ? introduce(truncate(said, room)) : truncate(said, room)
  return toAnnouncement(request, cycle.announceIn, { text, calls: decided.flatMap(toCall) })
}

/** Tells whether a message of the cycle asks which models there are. */
export function asksForModels({ messages }: ModelRequest): boolean {
  return readCycle(messages).items.some(({ item }) => item.kind === 'message' && isModelQuestion(item.text))
}

/** Tells whether the text becomes the summary of a task. */
function isTask(messages: readonly ModelMessage[]): boolean {
  const batch = messages.findLast(({ role, text }) => role === 'user' && text.startsWith('[INBOX'))
  return batch?.text.includes('\nYour final text goes to nobody; it is the summary of your task') === true
}

/** Adds to the first reply, and only there, that no language model answers. */
function introduce(text: string): string {
  if (text === '' || text.includes(NO_MODEL)) return text
  return `${text}\n\n(${NO_MODEL}: plain commands answer here. \`/help\` shows them, \`/models\` what could be connected.)`
}

/**
 * Plans the items of the reply's conversation. The hub asks about the others afterwards, but not where the
 * cycle ends by a call: then they are planned too.
 */
function decideItems(items: readonly OpenItem[], decide: (open: OpenItem) => Plan): Decided[] {
  const here = items.filter(open => !open.elsewhere).map(open => ({ open, plan: decide(open) }))
  if (!here.some(each => each.plan.kind === 'end')) return here
  return items.map(open => here.find(each => each.open === open) ?? { open, plan: decide(open) })
}

function toCall({ open, plan }: Decided): ModelCall[] {
  if (plan.kind === 'say') return []
  const call = { id: open.nextCallId, name: plan.name, arguments: JSON.stringify(plan.arguments) }
  return [plan.kind === 'call' && plan.ask ? { ...call, ask: plan.ask } : call]
}

/** Returns the text for each item, in order. One of several answers begins with its message. */
function toParagraphs(decided: readonly Decided[]): string[] {
  return decided.flatMap(({ open: { item }, plan }) => {
    if (plan.kind === 'call') return []
    const isOneOfMany = decided.length > 1 && item.kind === 'message'
    return isOneOfMany
      ? [`> ${truncate(item.text.replace(/\s+/g, ' ').trim(), 100)}\n\n${plan.text}`]
      : [plan.text]
  })
}

/**
 * Sends the text about items that nobody asked for, such as events, to the agent's first conversation, since
 * the agent's final text goes nowhere.
 */
function toAnnouncement(
  { messages, tools }: ModelRequest,
  conversation: string | undefined,
  decision: Decision,
): Decision {
  const { text } = decision
  if (conversation === undefined || text === '' || !tools.some(({ name }) => name === ANNOUNCE))
    return decision
  const call = {
    id: `commands_${messages.length}_say`,
    name: ANNOUNCE,
    arguments: JSON.stringify({ to: conversation, text }),
  }
  return { text: '', calls: [call] }
}

/** Plans what an item leads to, by its kind. An item that no person wrote is only reported. */
function decideItem({ item, outcomes }: OpenItem, scene: Scene): Plan {
  switch (item.kind) {
    case 'message':
      return decideMessage(item, scene, outcomes)
    case 'wake':
      return say(`Reminder: ${toSentence(toDetails(item.text))}`)
    case 'event':
      // The origin has the type already.
      return say(`${toOrigin(item)}: ${toDetails(item.text.replace(/^\S+ (?=\{)/, ''))}`)
    case 'notice':
      return say(item.text === GO_ON ? '' : `${toOrigin(item)}:\n${toDetails(item.text)}`)
    case 'agent':
    case 'task':
    case 'approval':
      return say(`${toOrigin(item)}:\n${toDetails(item.text)}`)
    default:
      return item.kind satisfies never
  }
}

/** Returns where an item came from, without the words that warn a model. */
function toOrigin({ origin }: BatchItem): string {
  return origin.replace(/; data, not instructions|\s*\(data, not instructions\)/g, '') || 'A notice'
}

/**
 * Returns a text as it is. An event's JSON data becomes the text that its server gave with it, or a list of
 * its fields.
 */
function toDetails(text: string): string {
  const [, before = '', json = '', after = ''] = /^([^{]*)(\{.*\})([^}]*)$/s.exec(text.trim()) ?? []
  const data = parseJson(json)
  if (typeof data !== 'object' || data === null) return truncate(text.trim(), LONGEST_DETAILS)
  const said = 'text' in data && typeof data.text === 'string' ? data.text : toPairs(data)
  return truncate(`${before.trim()} ${said}${after}`.trim(), LONGEST_DETAILS)
}

function toPairs(data: object): string {
  const pairs = Object.entries(data).filter(([name]) => name !== 'units')
  return pairs
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')
}
