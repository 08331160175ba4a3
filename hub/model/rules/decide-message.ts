import type { BatchItem } from '../../core/model.ts'
import { findTool, type KnownTool } from './catalogue.ts'
import { readCommand } from './commands.ts'
import type { OpenItem } from './cycle.ts'
import { decideFact, decideForget, decideRecall } from './fact-plan.ts'
import { isRecall, readFact, readForget } from './facts.ts'
import type { Field } from './fields.ts'
import { missingOf } from './fill-arguments.ts'
import { clearBest, matchTools, STRONG_SCORE } from './match-tools.ts'
import { saySmallTalk } from './phrases.ts'
import { type Plan, planCall, planMissing, type Scene, say, sayOutcome } from './plan.ts'
import { askConfirm, isDropped, type Question, readYesNo } from './questions.ts'
import {
  askLater,
  decideAgreed,
  decideCancel,
  decideList,
  decideReminder,
  decideWhenAnswer,
  readWish,
} from './reminder-plan.ts'
import { isListWish, readCancelWish, readDoubtful } from './reminders.ts'
import type { Outcome } from './results.ts'
import { decideOrder } from './search-plan.ts'
import { isNegated, isQuestion } from './spoken.ts'
import { toValue } from './values.ts'
import { toSentence } from './words.ts'

const LONGEST_ASIDE = 2000

/** What a person's message leads to next. Pure: the same message after the same outcomes gives the same plan. */
export function decideMessage(open: OpenItem, scene: Scene): Plan {
  const { item, outcomes, question } = open
  const command = readCommand(item.text, scene.catalogue)
  if (command?.kind === 'say') return say(command.text)
  if (command) return outcomes[0] ? sayOutcome(outcomes[0], scene) : planCall(command.tool, command.arguments)
  const answer = question && decideAnswer(item.text, question, scene, outcomes)
  return answer ?? decideSentence(item, scene, outcomes)
}

function decideSentence(item: BatchItem, scene: Scene, done: Outcome[]): Plan {
  const text = toSentence(item.text)
  const cancel = readCancelWish(text)
  if (cancel !== undefined) return decideCancel(cancel, scene, done)
  if (isListWish(text)) return decideList(scene, done)
  const fact = readFact(text)
  if (fact) return decideFact(fact, scene, done)
  if (isRecall(text)) return decideRecall(scene, done)
  const forget = readForget(text)
  if (forget !== undefined) return decideForget(forget, scene, done)
  const wish = readWish(text, item.at, scene)
  if (wish) return decideReminder(wish, scene, done)
  const talk = saySmallTalk(text, scene.catalogue)
  if (talk !== undefined) return say(talk)
  if (readYesNo(text) !== undefined && !isNegated(text))
    return say('I have nothing open that needs a yes or no. /help shows what I understand.')
  const order = decideOrder(text, scene, done)
  const later = order.kind === 'say' ? undefined : readWish(text, item.at, scene, readDoubtful)
  return later ? askLater(later, scene) : order
}

/** What a message says to a question; undefined where it is about something else. */
function decideAnswer(full: string, question: Question, scene: Scene, done: Outcome[]): Plan | undefined {
  const text = toSentence(full)
  const tool = findTool(scene.catalogue, question.tool)
  if (!tool) return readYesNo(text) ? say(`\`${question.tool}\` is not there any more.`) : undefined
  if (question.kind === 'confirm') return decideYesNo(text, question, tool, scene, done)
  if (isDropped(text)) return say('All right, never mind.')
  if (isElsewhere(text, scene)) return undefined
  if (tool.name === 'schedule_wake') return decideWhenAnswer(text, question, scene, done)
  if (tool.name === 'cancel_schedule') return decideCancel(text, scene, done)
  const [field] = missingOf(tool, question.arguments)
  if (done[0]) return sayOutcome(done[0], scene)
  return field && decideValue(full, question, tool, field, scene)
}

function decideYesNo(
  text: string,
  question: Question,
  tool: KnownTool,
  scene: Scene,
  done: Outcome[],
): Plan | undefined {
  const yes = readYesNo(text)
  if (yes === undefined) return undefined
  if (!yes) return say('All right, I left it alone.')
  if (/^schedule_(?:wake|cron)$/.test(tool.name)) return decideAgreed(question, scene, done)
  if (!done[0]) return planCall(tool, question.arguments)
  return tool.name === 'cancel_schedule' ? decideCancel('', scene, done) : sayOutcome(done[0], scene)
}

/** Wishes that are plain whatever was asked before. */
function isElsewhere(text: string, scene: Scene): boolean {
  if (isListWish(text) || isRecall(text) || readCancelWish(text) !== undefined) return true
  return (
    /^\W*(?:remind me|remember that|help)\b/i.test(text) ||
    saySmallTalk(text, scene.catalogue)?.startsWith('I work') === true
  )
}

function decideValue(
  full: string,
  question: Question,
  tool: KnownTool,
  field: Field,
  scene: Scene,
): Plan | undefined {
  const text = toSentence(full)
  const value = toValue(field, field.choices.length > 0 || field.kind === 'number' ? text : full)
  if (value === undefined || (isFreeText(field) && isQuestion(text))) {
    if (clearBest(matchTools(text, scene.catalogue.tools), STRONG_SCORE)) return undefined
  }
  if (value === undefined)
    return planMissing(tool, question.arguments, field, 'I could not read that as an answer.')
  const values = { ...question.arguments, [field.name]: value }
  const [next] = missingOf(tool, values)
  // Any text fits a free argument, so a change that hangs on one is asked about once more.
  const asks = next !== undefined || (!tool.readOnly && tool.fields.some(isFreeText))
  if (asks && full.length > LONGEST_ASIDE) {
    return say(`That is too long to ask back about; give it with \`/call ${tool.name} {…}\`.`)
  }
  if (next) return planMissing(tool, values, next)
  return asks ? { kind: 'ask', question: askConfirm(tool.name, values) } : planCall(tool, values)
}

function isFreeText(field: Field): boolean {
  return field.required && field.choices.length === 0 && (field.kind === 'string' || field.kind === 'list')
}
