import type { BatchItem, ModelTool } from '../../core/model.ts'
import { truncate } from '../../core/text.ts'
import type { Outcome } from './cycle.ts'
import { decideTellWhen, readTellWhen } from './events.ts'
import { planExact } from './exact.ts'
import { answerSmallTalk, isModelQuestion, NO_MODEL, sayModels } from './help.ts'
import { type Match, matchTools, orderWordsOf, toKnownWords, verbOf } from './match.ts'
import { type Plan, planCall, type Scene, say, toCallText, toToolLine, wordOutcome } from './plan.ts'
import { decideReminder, readReminder, withoutPlease } from './reminders.ts'
import { decideSchedules, decideSlash } from './slash.ts'
import { readWhen } from './when.ts'
import { fold, meaningsOf, toWords } from './words.ts'

/** Characters; nobody words a plain request longer than this. */
const LONGEST = 1000
const NEAREST = 3

/** Plans the answer to a person's message. Pure: the same message and outcomes give the same plan. */
export function decideMessage(item: BatchItem, scene: Scene, outcomes: Outcome[]): Plan {
  if (scene.models && isModelQuestion(item.text)) return say(sayModels(scene.models))
  const command = decideSlash(item, scene, outcomes)
  if (command) return command
  if (item.text.length > LONGEST) return sayUnknown([])
  const event = readTellWhen(item.text)
  if (event !== undefined) return decideTellWhen(event, scene, outcomes)
  const reminder = readReminder(item.text)
  if (reminder !== undefined) return decideReminder(reminder, item, scene, outcomes)
  const smallTalk = answerSmallTalk(item.text, scene.tools)
  if (smallTalk !== undefined) return say(smallTalk)
  const text = PHRASES.reduce(
    (said, [phrase, meant]) => said.replace(phrase, meant),
    withoutPlease(item.text),
  )
  const [done] = outcomes
  if (done?.name === LIST_SCHEDULES) return decideSchedules('', outcomes)
  const exact = planExact(text, scene.tools)
  if (exact) return done ? say(wordOutcome(done)) : exact
  const orders = orderWordsOf(toKnownWords(toOrder(text), scene.tools), scene.tools)
  if (orders.length > 0) return done ? say(wordOutcome(done)) : decideOrder(text, orders, scene)
  const { plan, isSure } = decideQuestion(text, scene)
  return done ? say(isSure ? wordOutcome(done) : `${UNSURE} ${wordOutcome(done)}`) : plan
}

const LIST_SCHEDULES = 'list_schedules'
const UNSURE = 'I may not have understood you. This is the nearest that I can look at:'

/** Phrases for what some tools do that no word of these tools matches, each with words that do. */
const PHRASES: readonly [RegExp, string][] = [
  [
    /\b(?:remove|lift|drop|disable|no|without|turn off|switch off) (?:the |any |all )?(?:download )?(?:speed )?(?:limit|throttle|cap)\b|(?<!\p{L})(?:quita|enl[eè]ve|togli|hef|entferne?)(?!\p{L}).*limit\p{L}*|limi\p{L}* (?:uit|aus|aufheben|weg)(?!\p{L})/iu,
    'limit the download speed to 0 MB/s',
  ],
  [/\b(?:been up|up all (?:night|day)|rebooted|reboot(?= \?|\?|$))/iu, 'uptime'],
  [
    /(?:how'?s|how is|how are|wie geht'?s?(?: es)?|comment va|c[oó]mo est[aá]|come sta|hoe gaat het met)\s+(?:the|my|our|dem|le|el|il|de)?\s*(?:server|serveur|servidor)(?!\p{L})/iu,
    'how is the system',
  ],
  [/\bnotifications? (?:did|have|were|was|do)\b/iu, 'notification history'],
  [/^download (?=(?:https?|magnet):)|^(?=magnet:)/iu, 'add the download '],
  [/\b(?:mach|schalte?|stell|zet|mets|metti)(?=.*\b(?:pause|pausa)\b)/iu, 'pause'],
  [/\b(start\p{L}*)\b(.*)\bneu\b/iu, 'restart $2'],
]

const NEGATED =
  /(?<!\p{L})(?:don'?t|do not|not|never|no|nicht|nie|kein\p{L}*|ne|n'|pas|non|niet|nooit|nao|не|нет)(?!\p{L})/u
const CONDITION =
  /(?<!\p{L})(?:if|when|whenever|once|unless|until|till|as soon as|after|before|wenn|falls|sobald|bis|nachdem|bevor|si|quand|des que|cuando|hasta|quando|finche|als|wanneer|zodra|если|когда|пока)(?!\p{L})/u

/** Words that leave something out, or say more than one call can do. */
const EXCEPTION =
  /(?<!\p{L})(?:but|except|apart|besides|only|just the|without|instead|both|either|all (?!downloads?|torrents?)\p{L}+s|aber|ausser|ohne|nur|statt|sauf|sans|seulement|pero|excepto|salvo|sin|solo|ma|tranne|senza|behalve|zonder)(?!\p{L})/u
/** Words and marks after which a person says why. */
const BECAUSE =
  /[,;!?]|(?<!\p{L})(?:because|since|cause|so that|weil|denn|parce que|porque|perche|omdat)(?!\p{L})/u

/** Plans a change. It never runs from free text: a clear one becomes a call that waits for a yes. */
function decideOrder(text: string, orders: readonly string[], scene: Scene): Plan {
  const order = toOrder(text)
  if (NEGATED.test(order.split(BECAUSE)[0] ?? ''))
    return say(
      'I changed nothing just now, and I keep no rules. What waits for your yes stands on its card, and what is scheduled in /schedules.',
    )
  const meant = new Set(orders.flatMap(word => [word, ...meaningsOf(word)]))
  const tools = scene.tools.filter(tool => !tool.readOnly && meant.has(verbOf(tool)))
  const matches = matchTools(text, tools, orders)
  const [best] = matches
  if (!best) return say(`I found no tool for that change. ${UNTOUCHED} ${POINTERS}`)
  if (best.tool.name === 'cancel_schedule' && !text.includes('sch_'))
    return { kind: 'call', name: LIST_SCHEDULES, arguments: {} }
  const isLater = isTimed(order, best, scene)
  if (isLater || CONDITION.test(order)) {
    const instead = isLater
      ? `\`/remind ${truncate(text, 100)}\` reminds you of it`
      : '“tell me when …” and “remind me …” work'
    return say(`${LATER} ${UNTOUCHED} ${instead}; the call now would be like ${toTemplate(best)}.`)
  }
  const one = toOne(matches) ?? toReasoned(text, tools, scene)
  if (one && !EXCEPTION.test(order)) return planCall(one.tool, one.filled.arguments)
  const near = matches
    .slice(0, matches[1]?.clear ? NEAREST : 1)
    .map(match => `- ${toTemplate(match)}${match.tool.isMeta ? '' : ' (asks first)'}`)
  return say(
    `I am not sure enough what to change. ${UNTOUCHED} These exact calls come near:\n${near.join('\n')}`,
  )
}

/** Returns the one change that is clear. */
function toOne([best, next]: readonly Match[]): Match | undefined {
  return best?.clear && !next?.clear && !best.tool.isMeta ? best : undefined
}

/** Returns the change that the first clause asks for, where the rest asks for none. */
function toReasoned(text: string, tools: readonly ModelTool[], scene: Scene): Match | undefined {
  const at = fold(text).search(BECAUSE)
  const first = text.slice(0, Math.max(0, at))
  const isMore = toWords(text.slice(at + 1)).some(word => orderWordsOf([word], scene.tools).length > 0)
  return isMore ? undefined : toOne(matchTools(first, tools, orderWordsOf(toWords(first), scene.tools)))
}

/** Returns the part that says what to do; a text that is to be sent or written says nothing about that. */
function toOrder(text: string): string {
  return fold(text).split(CONTENT)[0] ?? ''
}

/** Tells whether an order is for another time than now. A span that an argument takes is no such time. */
function isTimed(order: string, { filled }: Match, { now, timezone }: Scene): boolean {
  const isSpan = [...filled.used].some(word => /^\d+$/.test(word))
  return !isSpan && readWhen(order.replace(AT_ONCE, ' '), { now, timezone }).kind !== 'none'
}

const AT_ONCE =
  /(?<!\p{L})(?:now|today|tonight|jetzt|sofort|heute|maintenant|aujourd'hui|ahora|hoy|adesso|ora|oggi|nu|сейчас)(?!\p{L})/gu
const CONTENT = /[:"“„«]|(?<!\p{L})(?:that|saying|dass|que|che)(?!\p{L})/u
const UNTOUCHED = 'Nothing was changed.'
const LATER = 'Without a language model I do nothing by myself later or on a condition.'
const POINTERS =
  '`/help` shows what works without a language model, `/tools` the tools, `/models` what could be connected.'

function toTemplate({ tool, filled }: Match): string {
  const missing = Object.fromEntries(
    filled.missing.map(({ name, choices }) => [name, choices.join(' | ') || '…']),
  )
  return toCallText(tool.name, { ...filled.arguments, ...missing })
}

/** Plans a question. A read-only tool runs where it comes near: it harms nothing, and the answer names it. */
function decideQuestion(text: string, scene: Scene): { plan: Plan; isSure: boolean } {
  const reading = scene.tools.filter(({ readOnly, name }) => readOnly && !OWN_HISTORY.has(name))
  // People add why they ask, so each sentence is tried by itself too.
  const sentences = text.split(/[?!.;]\s/).filter(each => each !== text)
  const whole = matchTools(text, reading)
  let best = findFit(whole)
  for (const sentence of sentences.slice(0, MOST_SENTENCES)) best ??= findFit(matchTools(sentence, reading))
  const named = [...(best?.filled.used ?? [])].reduce((left, word) => left.replace(word, ' '), text)
  const when = readWhen(named, scene)
  if (when.kind === 'at' || when.kind === 'cron')
    return {
      plan: say(`${LATER} \`/remind ${truncate(text, 100)}\` reminds you of it.`),
      isSure: true,
    }
  return best
    ? { plan: planCall(best.tool, best.filled.arguments), isSure: best.clear }
    : { plan: sayUnknown(whole), isSure: false }
}

const MOST_SENTENCES = 4

function findFit(matches: readonly Match[]): Match | undefined {
  return matches.find(({ filled, clear, near }) => (clear || near) && filled.missing.length === 0)
}

/** Tools that search what the agent itself wrote and read; a question in plain words never runs them. */
const OWN_HISTORY = new Set(['search_history', 'read_messages', 'get_context'])

function sayUnknown(matches: readonly Match[]): Plan {
  const near = matches.slice(0, NEAREST).map(({ tool }) => toToolLine(tool))
  if (near.length === 0)
    return say(`${NO_MODEL}, and no tool here fits, so I cannot help with that. ${POINTERS}`)
  return say(
    `I did not understand that, and did nothing. The nearest tools:\n${near.join('\n')}\n\n${POINTERS}`,
  )
}
