import { fromIso, toIso, toLocal } from '../../core/clock.ts'
import { nextOccurrence } from '../../core/schedule-plan.ts'
import { ORDER, placeTime, readPutOff, STATEMENT, TELLING } from './place-time.ts'
import { withoutPolite } from './spoken.ts'
import { readWhen, type Timed, type TimeFrame, type When } from './when.ts'
import { READ_CHARACTERS } from './words.ts'
import { DAY, MINUTE, toKnownZone } from './zone.ts'

/** A wish to be reminded; without `when` the person has to be asked. */
export interface ReminderWish {
  /** What of, in the person's words. */
  reason: string
  /** The word that joins it: "to check the disks", "that it is late". */
  joint: string
  when?: When
  /** How the person said when: "every day at 8". */
  phrase: string
}

const TRIGGER =
  /^(?:(?:i (?:want|need|would like|d like) (?:you to|a)|let['’]?s|just)\s+)?(?:remind(?: me| us)?|wake (?:me|us|up)(?: up)?|(?:set|create|add|make|schedule)(?: me)? (?:an? |the )?(?:new )?(?:reminder|alarm|timer|wake|wake-?up|schedule)(?: for me)?|remember to|don['’]?t forget to|reminder)\b[\s:,]*/i
/** What may stand between a time and what it is for. */
const LEFT_OVER = /^(?:[\s:,;–-]+|(?:please|then|and|(?:can|could|would|will) you)\b)+/i

/** Whether a sentence asks for a reminder, and which. `now` is the time at which it was said. */
export function readReminder(sentence: string, frame: TimeFrame): ReminderWish | undefined {
  const text = toWished(sentence)
  const trigger = TRIGGER.exec(text)?.[0]
  if (trigger !== undefined)
    return readTriggered(text.slice(trigger.length), frame, /(?:remember|forget) to/i.test(trigger))
  const timed = readWhen(text, frame)
  if (!timed) return undefined
  const asked = TELLING.exec(text)?.[0]
  if (asked !== undefined)
    return isAhead(timed) || placeTime(timed) === 'sure'
      ? readTriggered(text.slice(asked.length), frame, false)
      : undefined
  if (timed.before === '' && isOrderAfter(timed.after)) return toWish(timed.after, timed)
  const atEnd = isEmpty(timed.after) && ORDER.test(timed.before)
  if (!atEnd && placeTime(timed) !== 'sure') return undefined
  return toWish(around(timed).replace(/^send (?:me|us)\s+/i, ''), timed)
}

/** What a sentence that is no plain reminder may want later: nothing of it may be done now without asking. */
export function readDoubtful(sentence: string, frame: TimeFrame): ReminderWish | undefined {
  const text = toWished(sentence)
  const timed = readWhen(text, frame)
  if (timed) return placeTime(timed) === 'open' ? toWish(around(timed), timed) : undefined
  const putOff = readPutOff(text)
  return putOff === undefined ? undefined : toWish(putOff)
}

/** The sentence without "please" and "I want you to". */
function toWished(sentence: string): string {
  return withoutPolite(sentence.slice(0, READ_CHARACTERS))
    .replace(/^i(?: want| need| would like|['’]?d like) you to\s+/i, '')
    .replace(/[\s,]+please\W*$/i, '')
    .trim()
}

/** "notify me when …" and "tell me what happened at 9" are no reminders. */
function isAhead(timed: Timed): boolean {
  return !/\b(?:what|when|who|how|why|which|if|whether)\b/i.test(`${timed.before} ${timed.after}`)
}

function isEmpty(text: string): boolean {
  return !/[\p{L}\p{N}]/u.test(text)
}

/** What is left of the sentence, without its time. */
function around({ before, after }: Timed): string {
  return [before, after].filter(part => !isEmpty(part)).join(' ')
}

function isOrderAfter(after: string): boolean {
  if (/^[:,–-]\s*\S/.test(after)) return true
  const rest = after.replace(/^\W+/, '')
  return rest !== '' && (TRIGGER.test(rest) || !STATEMENT.test(rest))
}

function readTriggered(rest: string, frame: TimeFrame, isTo: boolean): ReminderWish {
  const timed = readWhen(rest, frame) ?? readWhen(rest.replace(/^for\s+/i, 'in '), frame)
  if (!timed) return toWish(isTo ? `to ${rest}` : rest)
  const text = around(timed)
  return toWish(isTo && !/^to\b/i.test(text) ? `to ${text}` : text, timed)
}

function toWish(text: string, timed?: Timed): ReminderWish {
  const bare = text
    .replace(LEFT_OVER, '')
    .replace(TRIGGER, '')
    .replace(/[\s,;:–-]+$/, '')
    .replace(LEFT_OVER, '')
  const [, joint = '', rest = ''] = /^(?:(to|that|about|of|for)\s+)?(.*)$/is.exec(bare) ?? []
  const reason = rest.replace(/^[\s:,;–-]+/, '').replace(/[\s.!]+$/, '')
  return {
    reason: reason === '' ? 'it is time' : reason,
    joint: reason === '' ? 'that' : joint.toLowerCase() || (ORDER.test(reason) ? 'to' : ''),
    phrase: timed?.phrase ?? '',
    ...(timed ? { when: timed.when } : {}),
  }
}

/** The arguments of the meta-tool that makes the reminder. */
export function toScheduleCall(
  wish: ReminderWish,
  when: Exclude<When, { kind: 'refused' }>,
  timezone: string,
) {
  switch (when.kind) {
    case 'delay':
      return { name: 'schedule_wake', arguments: { delay: when.delay, reason: wish.reason } }
    case 'at':
      return { name: 'schedule_wake', arguments: { at: toIso(when.at), reason: wish.reason } }
    case 'cron':
      return {
        name: 'schedule_cron',
        arguments: { cron: when.cron, timezone: toKnownZone(timezone), reason: wish.reason },
      }
    default:
      return when satisfies never
  }
}

/** "I'll remind you at 23:42 to check the disks." */
export function confirmOnce(reason: string, joint: string, at: number, frame: TimeFrame): string {
  const said = `I'll remind you ${toSpokenTime(at, frame)}${joined(reason, joint)}`
  return /[?!]$/.test(said) ? said : `${said}.`
}

/** "I'll remind you every day at 8 to check the disks (next: Mon 2026-11-23 08:00)." */
export function confirmCron(
  wish: { reason: string; joint: string; phrase: string },
  cron: string,
  frame: TimeFrame,
): string {
  const next = nextOccurrence(cron, toKnownZone(frame.timezone), frame.now)
  const first = next === undefined ? '' : ` (next: ${toLocal(next, toKnownZone(frame.timezone))})`
  return `I'll remind you ${wish.phrase.trim() || `by the rhythm ${cron}`}${joined(wish.reason, wish.joint)}${first}.`
}

function joined(reason: string, joint: string): string {
  const mine = reason.replace(/\bmy\b/gi, 'your').replace(/\bI am\b|\bI['’]m\b/g, 'you are')
  return joint === '' ? `: ${mine}` : ` ${joint} ${mine}`
}

/** "at 23:42", "tomorrow at 09:00", "on Mon 2026-11-23 at 09:00"; under a minute "in 30 seconds". */
function toSpokenTime(at: number, frame: TimeFrame): string {
  const zone = toKnownZone(frame.timezone)
  const span = at - frame.now
  if (span > 0 && span < MINUTE) return `in ${Math.round(span / 1000)} seconds`
  const split = (local: string) => ({ date: local.slice(0, -6), time: local.slice(-5) })
  const then = split(toLocal(at, zone))
  if (then.date === split(toLocal(frame.now, zone)).date) return `at ${then.time}`
  if (then.date === split(toLocal(frame.now + DAY, zone)).date) return `tomorrow at ${then.time}`
  return `on ${then.date} at ${then.time}`
}

/** When a one-time wake's arguments are due; undefined where they do not say. */
export function dueOf(values: Record<string, unknown>, frame: TimeFrame): number | undefined {
  if (typeof values['at'] === 'string') return fromIso(values['at'])
  const delay = typeof values['delay'] === 'string' ? /^(\d+)([smhd])$/.exec(values['delay']) : undefined
  const units: Record<string, number> = { s: 1000, m: MINUTE, h: 60 * MINUTE, d: DAY }
  const unit = units[delay?.[2] ?? '']
  return delay && unit !== undefined ? frame.now + Number(delay[1]) * unit : undefined
}

export function isListWish(sentence: string): boolean {
  const text = withoutPolite(sentence).slice(0, 200)
  if (/^\W*(?:my )?(?:reminders|schedules|alarms|timers)\W*$/i.test(text)) return true
  const asks =
    /^(?:what|which|list|show|see|tell me|give me|do i have|are there|have i|any|how many|view)\b/i.test(text)
  return asks && /\b(?:reminders?|schedules?|alarms?|timers?)\b/i.test(text)
}

/** What of a wish to cancel a reminder tells which one; undefined where the sentence is none. */
export function readCancelWish(sentence: string): string | undefined {
  const text = withoutPolite(sentence).slice(0, 300)
  const found =
    /^(?:cancel|delete|remove|drop|clear|forget|kill|turn off|get rid of|stop)\b(.*?)\b(?:reminders?|schedules?|wakes?|wake-?ups?|alarms?|timers?)\b(.*)$/is.exec(
      text,
    ) ??
    /^stop (?:reminding|waking|telling|nagging) (?:me|us)(?: up)?()(.*)$/is.exec(text) ??
    /^(?:cancel|delete|remove)\b()(.*\bsch_\w+.*)$/is.exec(text)
  return found ? `${found[1] ?? ''} ${found[2] ?? ''}`.replace(/[.!?]+$/, '').trim() : undefined
}
