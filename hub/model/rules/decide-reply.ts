import type { ModelCall, ModelRequest } from '../../core/model.ts'
import { truncate } from '../../core/text.ts'
import { readCatalogue } from './catalogue.ts'
import { type OpenItem, readCycle } from './cycle.ts'
import { decideItem, isLevelEvent } from './decide-item.ts'
import { INTRODUCTION, sayHelp } from './phrases.ts'
import type { Plan, Scene } from './plan.ts'
import { withoutTrailer, writeQuestion } from './questions.ts'
import { shorten, wordResult } from './results.ts'

export interface Decision {
  text: string
  calls: ModelCall[]
}

interface Decided {
  open: OpenItem
  plan: Plan
}

const CHARACTERS_PER_TOKEN = 3
const LONGEST_REPLY = 8000
const SHORTEST_REPLY = 400

/**
 * What this model answers to a window: calls as long as an item of the cycle needs one, then one reply to all items.
 * Pure; throws nothing for any window. Calls that end the cycle wait until everything else is answered, since the
 * text beside them is the reply.
 */
export function decideReply(request: ModelRequest): Decision {
  const scene: Scene = { catalogue: readCatalogue(request), now: request.now, timezone: request.timezone }
  const cycle = readCycle(request.messages)
  const looking = cycle.items.find(open => isLevelEvent(open.item))
  const decided = decideItems(cycle.items, open => decideItem(open, scene, open === looking))
  const calls = decided.filter(each => each.plan.kind === 'call').flatMap(toCall)
  if (calls.length > 0) return { text: '', calls }
  const strays = cycle.strays.map(stray => wordResult(stray, scene.timezone))
  const said = [...strays, ...toParagraphs(decided)].join('\n\n')
  const text = toReply(said, decided, cycle.introduced, request.maxOutput)
  return { text: text === '' ? sayHelp(scene.catalogue) : text, calls: decided.flatMap(toCall) }
}

/** Other conversations are answered when the hub asks about them; it does not where the cycle ends by a call. */
function decideItems(items: OpenItem[], decide: (open: OpenItem) => Plan): Decided[] {
  const here = items.filter(open => !open.elsewhere).map(open => ({ open, plan: decide(open) }))
  if (!here.some(each => each.plan.kind === 'end')) return here
  return items.map(open => here.find(each => each.open === open) ?? { open, plan: decide(open) })
}

function toCall({ open, plan }: Decided): ModelCall[] {
  if (plan.kind !== 'call' && plan.kind !== 'end') return []
  return [{ id: open.nextCallId, name: plan.name, arguments: JSON.stringify(plan.arguments) }]
}

/** What is said to each item, in order; where there are several, a message's answer begins with the message. */
function toParagraphs(decided: Decided[]): string[] {
  const asked = decided.findLast(each => each.plan.kind === 'ask')
  return decided.flatMap(each => {
    const text = textOf(each, asked)
    if (text === undefined) return []
    return decided.length > 1 && each.open.item.kind === 'message'
      ? [`${quote(each.open.item.text)}\n\n${text}`]
      : [text]
  })
}

/** One question at a time can be answered: the last. */
function textOf(each: Decided, asked: Decided | undefined): string | undefined {
  const { plan } = each
  if (plan.kind === 'say' || plan.kind === 'end') return plan.text
  if (plan.kind !== 'ask' || each === asked) return undefined
  return 'I have to ask something about this; please send it again after the question below.'
}

function quote(text: string): string {
  return `> ${truncate(text.replace(/\s+/g, ' ').trim(), 100)}`
}

/** The answers, then once who answers here, then the question, which has to stand at the very end. */
function toReply(said: string, decided: Decided[], introduced: boolean, maxOutput: number): string {
  const asked = decided.map(each => each.plan).findLast(plan => plan.kind === 'ask')
  const question = asked?.kind === 'ask' ? writeQuestion(asked.question) : ''
  const room = Math.max(
    SHORTEST_REPLY,
    Math.min(LONGEST_REPLY, maxOutput * CHARACTERS_PER_TOKEN) - question.length,
  )
  const answers = shorten(withoutTrailer(said), room)
  return [answers, ...(introduced || said + question === '' ? [] : [INTRODUCTION]), question]
    .filter(part => part !== '')
    .join('\n\n')
}
