import { toIso, toLocal } from '../../core/clock.ts'
import type { BatchItem } from '../../core/model.ts'
import type { Outcome } from './cycle.ts'
import { type Plan, type Scene, say, wordOutcome } from './plan.ts'
import { readWhen } from './when.ts'
import { fold } from './words.ts'

/** Polite words with which a request may begin. */
const POLITE =
  "(?:(?:please|pls|hey|hi|ok|and|bitte|s'il te plait|por favor|per favore|пожалуйста|can you|could you|would you|will you|i want you to|i'd like you to|kannst du|konntest du|peux-tu|tu peux|puedes|puoi|kun je)[\\s,]+)*"

const REMIND =
  /(?<!\p{L})(?:remind me|tell me to|set (?:me )?a reminder|wake me(?: up)?|erinner[en]? mich|weck[en]? mich|mich(?=.*(?<!\p{L})erinnern)|(?:me )?rappelle[rz]?(?:[- ]moi)?|recuerda(?:me|nos)|recordarme|ricorda(?:mi|rmi|ci)|me lembr[ae]r?|lembr[ae](?:r)?[- ]me|herinner (?:me|mij)|me(?=.*(?<!\p{L})herinneren)|напомни(?:те)?(?: мне)?|нагадай(?:те)?(?: мені| мени)?|paminn (?:mig|oss)|muistuta (?:minua|meita)|ingatkan (?:saya|aku)|nhac toi)(?!\p{L})|^reminder(?!\p{L})/u
/** Words of the languages that put the request at the end. */
const REMIND_LATE =
  /(?:を|と|って|に|するように)?(?:リマインドして|思い出させて|知らせて)(?:ください)?。?|提醒我/u

const DENIED =
  /(?<!\p{L})(?:don'?t|not|never|did|does|do|is|was|has|have|why|when|what|who|how|which|nicht|ne|no|non|niet|не)(?!\p{L})/u

const polite = new RegExp(`^\\s*${POLITE}`, 'u')

/** Returns the text after its polite beginning, in the letters in which it was written. */
export function withoutPlease(text: string): string {
  const plain = text.normalize('NFC')
  return plain.slice(polite.exec(fold(plain))?.[0].length ?? 0).trim()
}

const TIMER = /^(?:set|start) (?:me )?(?:a |the )?timer (?:for|of) /iu

/** Returns what a person wants to be reminded of, and when; undefined where the text asks for no reminder. */
export function readReminder(text: string): string | undefined {
  const plain = withoutPlease(text).replace(TIMER, 'remind me in ')
  const folded = fold(plain)
  const found = REMIND.exec(folded)
  if (found && !DENIED.test(folded.slice(0, found.index))) {
    const rest = `${plain.slice(0, found.index)} ${plain.slice(found.index + found[0].length)}`
    return rest.replace(/(?<!\p{L})(?:erinnern|herinneren)(?!\p{L})/iu, '').trim()
  }
  return REMIND_LATE.test(plain) ? plain.replace(REMIND_LATE, ' ') : undefined
}

/** Plans a wake at the time of a reminder, which is sent then. An unclear time sets nothing. */
export function decideReminder(wish: string, { at }: BatchItem, scene: Scene, [done]: Outcome[]): Plan {
  if (done) return say(done.isError ? wordOutcome(done) : `The reminder is set. ${done.text}`)
  if (!scene.tools.some(({ name }) => name === 'schedule_wake'))
    return say('This agent may not schedule anything, so I set no reminder.')
  if (wish.length > LONGEST) return say(`A reminder may have ${LONGEST} characters. ${AGAIN}`)
  const { timezone } = scene
  const when = readWhen(wish, { now: at || scene.now, timezone })
  if (when.kind === 'none') return say(`I found no time there that I know. ${AGAIN}`)
  if (when.kind === 'unclear') return say(`${when.why} ${AGAIN}`)
  if (when.kind === 'at' && when.at <= scene.now) return say(`That time is past by now. ${AGAIN}`)
  const reason = toReason(when.rest) || 'it is time'
  if (when.kind === 'cron')
    return { kind: 'call', name: 'schedule_cron', arguments: { cron: when.cron, reason } }
  const text = `I remind you ${toLocal(when.at, timezone)} (${timezone}): ${reason}`
  return { kind: 'end', name: 'schedule_wake', arguments: { at: toIso(when.at), reason }, text }
}

const LONGEST = 1000
const AGAIN =
  'No reminder is set. Send it again, such as: `/remind tomorrow at 09:00 check the disks`, `/remind in 2 hours …`, `/remind every monday at 18:30 …`.'

const JOINING =
  /^(?:[\s,;:.–-]+|(?:to|that|about|at|on|and|daran|dass|an|um|zu|de|que|di|che|om|te|aan|по|о|att)[\s,]+|d'|[にを])/iu
const TRAILING = /[\s,;:–-]+(?:at|um|on|a|an|à)?$|[\s.?!]+$/u

/** Returns what a reminder is about, without the words that joined it to the time. */
function toReason(text: string): string {
  let rest = text.trim()
  for (let pieces = 0; pieces < 4; pieces++) rest = rest.replace(JOINING, '')
  return rest.replace(TRAILING, '').trim()
}
