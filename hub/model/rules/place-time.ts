import { isQuestion, withoutPolite } from './spoken.ts'
import type { Timed } from './when.ts'

/** What begins the wish to be told, without being a part of what is told. */
export const TELLING =
  /^(?:(?:tell|ping|nudge|notify|alert|message|write)\s+(?:me|us)|let\s+(?:me|us)\s+know)\b[\s:,]*/i
/** What begins the order to look, whatever the time in it. */
const LOOKING =
  /^(?:check|look(?: at| up)?|report(?: on)?|(?:show|give|send|get|bring|read)(?: (?:me|us))?|list|see|watch|monitor|measure)\b[\s:,]*/i
/** Orders that may stand before a time: "check the disks in 2 minutes". */
export const ORDER =
  /^(?:check|look|report|run|restart|reboot|start|stop|pause|resume|turn|give me|do|make|ask)\b/i
/** What begins a statement or a question, and no order. */
export const STATEMENT =
  /^(?:the|an?|my|our|your|his|her|its?|i|we|you|he|she|they|there|this|that|is|are|was|were|do|does|did|has|have|had|will|would|can|could|what|who|when|where|why|how|which|at|in|on|of)\b/i

const CONDITION = /\b(?:when(?:ever)?|if|whether|unless|until|till|as soon as)\b/i
const CLAUSE = /\b(?:what|who|how|why|which|where)\b/i
/** A clause about the past or the future: the time in it is its own, and the answer is wanted now. */
const OWN_TIME =
  /\b(?:was|were|did|had|been|happen(?:s|ed|ing)?|yesterday|ago|since|will|coming|comes?|upcoming|airs?|airing|due|released?|releases|scheduled|planned)\b/i
/** Points in time that are no part of a title or of a range. */
const AHEAD = /^(?:at|around|on|tomorrow|tonight|next|the day after tomorrow)\b/i
const TITLED = /^(?:search|find|request|play|add|remember|write)\b/i
/** A day ahead with its time, which is neither a title nor the time that a question is about. */
const DATED = /\b(?:tomorrow|tonight|next)\b.*(?:\d|noon|midnight)|\d.*\b(?:tomorrow|tonight|next)\b/i
const CLOCKED = /\bat\b|\d:\d|\d ?[ap]m\b/i
const DETERMINED = /\b(?:the|an?|my|our|your|its|this|that)$/i

/**
 * Whether what is left around a time is wanted at that time: surely; perhaps, so that it has to be asked; or not,
 * where undefined. Rhythms and spans are at least asked about, unless the sentence speaks of another time than its own.
 */
export function placeTime(timed: Timed): 'sure' | 'open' | undefined {
  const before = withoutPolite(timed.before).trim()
  const after = withoutPolite(timed.after.replace(/^[\s,:;.!?–-]+/, '')).trim()
  if (before + after === '' || isValue(timed.before)) return undefined
  if (DETERMINED.test(before) && after !== '') return undefined
  if (timed.said === 'moment' && !isMomentAhead(timed, `${before} ${after}`)) return undefined
  if (before === '') return placeFirst(timed, after)
  if (TELLING.test(before) || LOOKING.test(before) || ORDER.test(before))
    return placeInOrder(timed, before, after)
  const isLater = timed.said !== 'moment' || DATED.test(timed.phrase)
  if (isQuestion(before)) return placeAfterQuestion(timed, `${before} ${after}`, isLater)
  return isLater || (after === '' && !STATEMENT.test(before)) ? 'open' : undefined
}

/** What an order is that names no more than "later": the order; undefined for other sentences. */
export function readPutOff(text: string): string | undefined {
  const found =
    /^(.+?)[\s,]+(?:later(?: on| today)?|in a (?:bit|while)|some ?time)\W*$/is.exec(text) ??
    /^(?:later(?: on| today)?|in a (?:bit|while))[\s,]+(.+)$/is.exec(text)
  const order = found?.[1]
  return order === undefined || isQuestion(order) || TITLED.test(order) || isValue(order) ? undefined : order
}

/** What stands in quotes or after a colon is the value of an argument. */
function isValue(before: string): boolean {
  const quotes = before.match(/["`“”]/g)?.length ?? 0
  return quotes % 2 === 1 || /:\s+\S/.test(before)
}

function isMomentAhead({ when, phrase }: Timed, rest: string): boolean {
  const isTitle = TITLED.test(rest.trim()) && !DATED.test(phrase)
  return when.kind === 'at' && AHEAD.test(phrase) && !isTitle && !CONDITION.test(rest) && !OWN_TIME.test(rest)
}

/** "every day at 8 how is this machine doing?", "at 8 how is …", "every day at 8 the server stops" */
function placeFirst({ said }: Timed, after: string): 'sure' | 'open' | undefined {
  if (said === 'moment') return isQuestion(after) ? 'open' : undefined
  if (isQuestion(after)) return OWN_TIME.test(after) || CONDITION.test(after) ? 'open' : 'sure'
  return STATEMENT.test(after) ? 'open' : 'sure'
}

/** "how is this machine doing every day?", "is it hot at 18:00?"; "who played at 18:00?" wants its answer now. */
function placeAfterQuestion({ phrase }: Timed, rest: string, isLater: boolean): 'open' | undefined {
  if (OWN_TIME.test(rest)) return undefined
  const isState = /^(?:how|is|are)\b/i.test(rest) && /\btomorrow\b/i.test(phrase)
  return isLater || isState || (CLOCKED.test(phrase) && !/\w{3}ed\b/i.test(rest)) ? 'open' : undefined
}

/** "tell me every day at 8 how …", "show me … every day", "check … every day at 8 and tell me" */
function placeInOrder({ said }: Timed, before: string, after: string): 'sure' | 'open' | undefined {
  const rest = `${before} ${after}`
  const isBare = before.replace(TELLING, '').replace(LOOKING, '') === ''
  if (CONDITION.test(rest)) return 'open'
  if (isBare) return said === 'moment' && !TELLING.test(before) ? 'open' : 'sure'
  if (OWN_TIME.test(rest) && CLAUSE.test(rest)) return after === '' ? undefined : 'open'
  if (/^(?:and|then)\b/i.test(after)) return 'sure'
  if (said === 'moment' || (said === 'span' && (after !== '' || CLAUSE.test(rest)))) return 'open'
  return after === '' || !ORDER.test(before) || LOOKING.test(before) ? 'sure' : 'open'
}
