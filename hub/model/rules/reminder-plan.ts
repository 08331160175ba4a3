import { truncate } from '../../core/text.ts'
import { findTool } from './catalogue.ts'
import { type Plan, planMeta, type Scene, say, sayOutcome } from './plan.ts'
import type { Question } from './questions.ts'
import {
  confirmCron,
  confirmOnce,
  dueOf,
  type ReminderWish,
  readReminder,
  toScheduleCall,
} from './reminders.ts'
import { type Outcome, wordResult } from './results.ts'
import { type ListedSchedule, pickSchedule, readSchedules } from './schedules.ts'
import { isNegated } from './spoken.ts'
import { readWhen, type When } from './when.ts'
import { HOUR } from './zone.ts'

const WHEN_EXAMPLES =
  'For example “in 20 minutes”, “tomorrow at 9” or “every weekday at 7”. When shall it be?'
const MOST_LISTED = 15
const FRESH = 12 * HOUR

/** The wish of a sentence, its times counted from when it was said, unless that is over by now. */
export function readWish(
  sentence: string,
  saidAt: number,
  scene: Scene,
  read = readReminder,
): ReminderWish | undefined {
  const fresh = scene.now >= saidAt && scene.now - saidAt < FRESH
  const wish = read(sentence, { ...scene, now: fresh ? saidAt : scene.now })
  const isOver = wish?.when?.kind === 'refused' || (wish?.when?.kind === 'at' && wish.when.at <= scene.now)
  return isOver ? read(sentence, scene) : wish
}

export function decideReminder(wish: ReminderWish, scene: Scene, done: Outcome[]): Plan {
  const last = done.at(-1)
  if (last) return sayScheduled(last, wish, scene)
  if (!findTool(scene.catalogue, 'schedule_wake'))
    return say("I can't set reminders here: this agent has no `schedule_wake`.")
  if (!wish.when) return askWhen(wish)
  return planReminder(wish, wish.when, scene)
}

/** Asks whether a sentence that could be done now is wanted at the time that it names. */
export function askLater(wish: ReminderWish, scene: Scene): Plan {
  if (isNegated(wish.reason)) return say('All right, I leave that alone.')
  if (!wish.when || wish.when.kind === 'refused') return decideReminder(wish, scene, [])
  const { name, arguments: values } = toScheduleCall(wish, wish.when, scene.timezone)
  if (!findTool(scene.catalogue, name)) return planMeta(scene, name, values, 'set reminders')
  const said = (words: string) => truncate(words.replace(/\s+/g, ' ').replace(/^[\s,]+/, ''), 120)
  const text = `If you mean now, say it without the time. Shall I remind you of “${said(wish.reason)}” ${said(wish.phrase)}? Say yes or no.`
  return { kind: 'ask', question: { kind: 'confirm', tool: name, arguments: values, text } }
}

/** Sets the reminder of a question that was answered by yes. */
export function decideAgreed(question: Question, scene: Scene, done: Outcome[]): Plan {
  const { arguments: values, text } = question
  const reason = typeof values['reason'] === 'string' ? values['reason'] : 'it is time'
  const wish = { reason, joint: '', phrase: /.*” (.*)\? Say yes or no\.$/.exec(text)?.[1] ?? '' }
  const last = done.at(-1)
  if (last) return sayScheduled(last, wish, scene)
  const plan = planMeta(scene, question.tool, values, 'set that reminder')
  const due = dueOf(values, scene)
  return plan.kind === 'end' && due !== undefined
    ? { ...plan, text: confirmOnce(reason, '', due, scene) }
    : plan
}

function planReminder(wish: ReminderWish, when: When, scene: Scene): Plan {
  if (when.kind === 'refused') return say(`I can't set that reminder: ${when.why}.`)
  const call = toScheduleCall(wish, when, scene.timezone)
  const plan = planMeta(scene, call.name, call.arguments, 'set that reminder')
  if (plan.kind !== 'end' || when.kind === 'cron') return plan
  const at = when.kind === 'at' ? when.at : scene.now + when.milliseconds
  return { ...plan, text: confirmOnce(wish.reason, wish.joint, at, scene) }
}

function sayScheduled(outcome: Outcome, wish: ReminderWish, scene: Scene): Plan {
  if (outcome.isError) return say(wordResult(outcome, scene.timezone))
  const { cron } = outcome.arguments
  if (typeof cron === 'string') return say(confirmCron(wish, cron, scene))
  const due = dueOf(outcome.arguments, scene)
  return due === undefined
    ? sayOutcome(outcome, scene)
    : say(confirmOnce(wish.reason, wish.joint, due, scene))
}

function askWhen(wish: ReminderWish): Plan {
  const what = `${wish.joint === '' ? ' of' : ` ${wish.joint}`} ${wish.reason}`
  const text = `I can remind you${wish.reason === 'it is time' ? '' : what}. ${WHEN_EXAMPLES}`
  return {
    kind: 'ask',
    question: { kind: 'missing', tool: 'schedule_wake', arguments: { reason: wish.reason }, text },
  }
}

/** The answer to "when?"; undefined where it says no time. */
export function decideWhenAnswer(
  answer: string,
  question: Question,
  scene: Scene,
  done: Outcome[],
): Plan | undefined {
  const reason =
    typeof question.arguments['reason'] === 'string' ? question.arguments['reason'] : 'it is time'
  const joint = /^I can remind you (to|that|about|for)\b/.exec(question.text)?.[1] ?? ''
  const timed = readWhen(answer, { ...scene, bare: true })
  if (!timed && done.length === 0) return undefined
  const phrase = timed?.phrase ?? ''
  return decideReminder({ reason, joint, phrase, ...(timed ? { when: timed.when } : {}) }, scene, done)
}

export function decideList(scene: Scene, done: Outcome[]): Plan {
  const last = done.at(-1)
  if (!last) return planMeta(scene, 'list_schedules', {}, 'list reminders')
  if (last.isError) return say(wordResult(last, scene.timezone))
  const schedules = readSchedules(last, scene.timezone)
  if (schedules.length > 0) return say(`Your reminders:\n${toLines(schedules)}`)
  const isEmpty = last.structured !== undefined || /^\s*(?:$|[[{]|no\b|none|there are no)/i.test(last.text)
  return say(isEmpty ? 'There are no reminders.' : wordResult(last, scene.timezone))
}

/** Looks up which reminder is meant, cancels it, and says so; asks where several fit. */
export function decideCancel(words: string, scene: Scene, done: Outcome[]): Plan {
  const [first, second] = done
  const last = second ?? first
  if (last?.isError) return say(wordResult(last, scene.timezone))
  if (second || first?.name === 'cancel_schedule') return sayCancelled(done, scene)
  const id = /\bsch_[\w-]+/.exec(words)?.[0]
  if (!first && id !== undefined) return planMeta(scene, 'cancel_schedule', { id }, 'cancel reminders')
  if (!first) return planMeta(scene, 'list_schedules', {}, 'look up reminders')
  const schedules = readSchedules(first, scene.timezone)
  const meant = pickSchedule(words, schedules)
  if (meant) return planMeta(scene, 'cancel_schedule', { id: meant.id }, 'cancel reminders')
  return askWhich(schedules)
}

function sayCancelled(done: Outcome[], scene: Scene): Plan {
  const id = done.at(-1)?.arguments['id']
  const listed = done[0]?.name === 'list_schedules' ? readSchedules(done[0], scene.timezone) : []
  const label = listed.find(schedule => schedule.id === id)?.label
  return say(`Cancelled: ${label ?? String(id)}.`)
}

function askWhich(schedules: ListedSchedule[]): Plan {
  const [only] = schedules
  if (!only) return say('There are no reminders to cancel.')
  if (schedules.length === 1) {
    const text = `The only reminder is “${only.label}”. Shall I cancel it? Say yes or no.`
    return {
      kind: 'ask',
      question: { kind: 'confirm', tool: 'cancel_schedule', arguments: { id: only.id }, text },
    }
  }
  const text = `These are the reminders:\n${toLines(schedules)}\nWhich one shall I cancel?`
  return { kind: 'ask', question: { kind: 'missing', tool: 'cancel_schedule', arguments: {}, text } }
}

function toLines(schedules: ListedSchedule[]): string {
  const lines = schedules.slice(0, MOST_LISTED).map((schedule, index) => `${index + 1}. ${schedule.label}`)
  const more = schedules.length - MOST_LISTED
  return [...lines, ...(more > 0 ? [`… and ${more} more`] : [])].join('\n')
}
