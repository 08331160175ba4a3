import { parseJson } from '../../core/json.ts'
import { truncate } from '../../core/text.ts'
import type { Fact } from './facts.ts'
import { type Plan, planMeta, type Scene, say } from './plan.ts'
import { isRecord } from './questions.ts'
import { type Outcome, wordResult } from './results.ts'
import { STOPS } from './synonyms.ts'
import { toStems } from './words.ts'

export function decideFact(fact: Fact, scene: Scene, done: Outcome[]): Plan {
  const [stored] = done
  if (!stored) return planMeta(scene, 'store_context', { ...fact }, 'remember things')
  if (stored.isError) return say(wordResult(stored, scene.timezone))
  return say(`I'll remember that: ${fact.key} = ${fact.value}.`)
}

export function decideRecall(scene: Scene, done: Outcome[]): Plan {
  const [known] = done
  if (!known) return planMeta(scene, 'get_context', {}, 'look up what I remember')
  if (known.isError) return say(wordResult(known, scene.timezone))
  const facts = readFacts(known)
  if (facts.length === 0) return say('I remember nothing yet. Say “remember that …”.')
  const lines = facts.map(({ key, value }) => `- ${key}: ${truncate(value, 300)}`)
  return say(['This is what I remember:', ...lines].join('\n'))
}

/** Looks up which fact is meant, and stores an empty value over it, which forgets it. */
export function decideForget(words: string, scene: Scene, done: Outcome[]): Plan {
  const [known, forgotten] = done
  const last = forgotten ?? known
  if (last?.isError) return say(wordResult(last, scene.timezone))
  if (!known) return planMeta(scene, 'get_context', {}, 'look up what I remember')
  if (forgotten) return say(`Forgotten: ${String(forgotten.arguments['key'])}.`)
  const facts = readFacts(known)
  const meant = pickFact(words, facts)
  if (meant) return planMeta(scene, 'store_context', { key: meant.key, value: '' }, 'forget things')
  const keys = facts.map(fact => fact.key).join(', ')
  return say(
    `I don't know which fact that is. ${keys === '' ? 'I remember nothing yet.' : `I remember: ${keys}.`}`,
  )
}

/** The facts in a result of `get_context`: from its data, else from the lines of its text. */
function readFacts(outcome: Outcome): Fact[] {
  const data = toFacts(outcome.structured) ?? toFacts(parseJson(outcome.text))
  if (data) return data
  return outcome.text.split('\n').flatMap(line => {
    const [, key, value] = /^[-*\s]*([^:]{1,200}):\s*(.+)$/.exec(line) ?? []
    return key && value ? [{ key: key.trim(), value }] : []
  })
}

function toFacts(value: unknown): Fact[] | undefined {
  if (!isRecord(value) && !Array.isArray(value)) return undefined
  const inner = Array.isArray(value) ? value : Object.values(value).find(Array.isArray)
  const pairs: unknown[] = inner ?? Object.entries(value).map(([key, each]) => ({ key, value: each }))
  return pairs.flatMap(pair => {
    if (!isRecord(pair) || typeof pair['key'] !== 'string') return []
    const said = pair['value']
    return [{ key: pair['key'], value: typeof said === 'string' ? said : (JSON.stringify(said) ?? '') }]
  })
}

function pickFact(words: string, facts: Fact[]): Fact | undefined {
  const told = toStems(words).filter(part => !STOPS.has(part))
  const scored = facts
    .map(fact => {
      const key = toStems(fact.key)
      const value = toStems(fact.value)
      const score = told.reduce(
        (sum, part) => sum + (key.includes(part) ? 2 : value.includes(part) ? 1 : 0),
        0,
      )
      return { fact, score }
    })
    .sort((a, b) => b.score - a.score)
  const [best, next] = scored
  return best && best.score > (next?.score ?? 0) ? best.fact : undefined
}
