import type { BatchItem } from '../../core/model.ts'
import type { Outcome } from './cycle.ts'
import { decideTellWhen, readTellWhen } from './events.ts'
import { sayHelp } from './help.ts'
import { type Match, matchTools, orderWordsOf, verbOf } from './match.ts'
import {
  isMetaTool,
  type Plan,
  planCall,
  type Scene,
  say,
  toCallText,
  toToolLine,
  wordOutcome,
} from './plan.ts'
import { decideReminder, readReminder } from './reminders.ts'
import { decideSlash } from './slash.ts'
import { readWhen } from './when.ts'
import { fold, meaningsOf, toWords } from './words.ts'

/** Nobody words a plain request longer than this. */
const LONGEST = 1000
const NEAREST = 3

/** What a person's message leads to next. Pure: the same message after the same outcomes gives the same plan. */
export function decideMessage(item: BatchItem, scene: Scene, outcomes: Outcome[]): Plan {
  const command = decideSlash(item, scene, outcomes)
  if (command) return command
  if (item.text.length > LONGEST) return sayUnknown(scene, [])
  const event = readTellWhen(item.text)
  if (event !== undefined) return decideTellWhen(event, scene, outcomes)
  const reminder = readReminder(item.text)
  if (reminder) return decideReminder(reminder, item, scene, outcomes)
  const [done] = outcomes
  if (done) return say(wordOutcome(done))
  const { text } = item
  const orders = orderWordsOf(toWords(toOrder(text)), scene.tools)
  return orders.length > 0 ? decideOrder(text, orders, scene) : decideQuestion(text, scene)
}

const NEGATED =
  /(?<!\p{L})(?:don'?t|do not|not|never|no|nicht|nie|kein\p{L}*|ne|n'|pas|non|niet|nooit|nao|не|нет)(?!\p{L})/u
const CONDITION =
  /(?<!\p{L})(?:if|when|whenever|once|unless|until|till|as soon as|after|before|wenn|falls|sobald|bis|nachdem|bevor|si|quand|des que|cuando|hasta|quando|finche|als|wanneer|zodra|если|когда|пока)(?!\p{L})/u

/** A change is never run from free text: one that is clear becomes a call that waits for a yes. */
function decideOrder(text: string, orders: readonly string[], scene: Scene): Plan {
  const order = toOrder(text)
  if (NEGATED.test(order))
    return say(
      'I changed nothing just now, and I keep no rules. What waits for your yes stands on its card, and what is scheduled in /schedules.',
    )
  const meant = new Set(orders.flatMap(word => [word, ...meaningsOf(word)]))
  const tools = scene.tools.filter(tool => !tool.readOnly && meant.has(verbOf(tool)))
  const matches = matchTools(text, tools, orders)
  const [best, next] = matches
  if (!best)
    return say(`I found no tool for that change; /tools lists them. ${UNTOUCHED}\n\n${sayHelp(scene.tools)}`)
  if (CONDITION.test(order) || isTimed(order, best, scene))
    return say(
      `Without a language model I do nothing by myself later or on a condition. ${UNTOUCHED} “tell me when …” and “remind me …” work; the call now would be like ${toTemplate(best)}.`,
    )
  const isOne = best.clear && !next?.clear
  if (isOne && !isMetaTool(best.tool.name)) return planCall(best.tool, best.filled.arguments)
  const near = matches
    .slice(0, isOne ? 1 : NEAREST)
    .map(match => `- ${toTemplate(match)}${isMetaTool(match.tool.name) ? '' : ' (asks first)'}`)
  return say(
    `I am not sure enough what to change. ${UNTOUCHED} These exact calls come near:\n${near.join('\n')}`,
  )
}

/** The part that says what to do; what is to be sent or written says nothing about that. */
function toOrder(text: string): string {
  return fold(text).split(CONTENT)[0] ?? ''
}

/** Whether it is meant for another time than now; a span that an argument takes is none. */
function isTimed(order: string, { filled }: Match, { now, timezone }: Scene): boolean {
  const isSpan = [...filled.used].some(word => /^\d+$/.test(word))
  return !isSpan && readWhen(order.replace(AT_ONCE, ' '), { now, timezone }).kind !== 'none'
}

const AT_ONCE =
  /(?<!\p{L})(?:now|today|tonight|jetzt|sofort|heute|maintenant|aujourd'hui|ahora|hoy|adesso|ora|oggi|nu|сейчас)(?!\p{L})/gu
const CONTENT = /[:"“„«]|(?<!\p{L})(?:that|saying|dass|que|che)(?!\p{L})/u
const UNTOUCHED = 'Nothing was changed.'

function toTemplate({ tool, filled }: Match): string {
  const missing = Object.fromEntries(filled.missing.map(name => [name, '…']))
  return toCallText(tool.name, { ...filled.arguments, ...missing })
}

function decideQuestion(text: string, scene: Scene): Plan {
  const reading = scene.tools.filter(({ readOnly }) => readOnly)
  const matches = matchTools(text, reading)
  const [best] = matches
  return best?.clear ? planCall(best.tool, best.filled.arguments) : sayUnknown(scene, matches)
}

function sayUnknown({ tools }: Scene, matches: readonly Match[]): Plan {
  const near = matches.slice(0, NEAREST).map(({ tool }) => toToolLine(tool))
  if (near.length === 0) return say(sayHelp(tools))
  return say(
    `I did not understand that, and did nothing. The nearest tools:\n${near.join('\n')}\n\n${sayHelp(tools)}`,
  )
}
