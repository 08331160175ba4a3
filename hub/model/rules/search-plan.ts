import type { KnownTool } from './catalogue.ts'
import { fillArguments } from './fill-arguments.ts'
import { clearBest, type Match, matchTools, STRONG_SCORE } from './match-tools.ts'
import { sayUnplaced } from './phrases.ts'
import { type Plan, planCall, planMissing, type Scene, say, sayOutcome } from './plan.ts'
import { askConfirm } from './questions.ts'
import type { Outcome } from './results.ts'
import { isNegated } from './spoken.ts'
import { widen } from './synonyms.ts'

const NEAREST = 3
const MOST_FOUND = 20
const LONGEST_QUERY = 300

/** Runs the one tool that a person's sentence means, asks for what it lacks, or says what comes nearest. */
export function decideOrder(sentence: string, scene: Scene, done: Outcome[]): Plan {
  const last = done.at(-1)
  if (last && last.name !== 'find_tools') return sayOutcome(last, scene)
  const matches = matchTools(sentence, scene.catalogue.tools)
  const best = clearBest(matches)
  const search = planSearch(sentence, scene, done, best)
  if (search) return search
  if (!best) return sayNearest(sentence, matches)
  if (!best.tool.readOnly && best.score < STRONG_SCORE) return sayNearest(sentence, matches)
  const filled = fillArguments(sentence, best.tool, best.used)
  const [missing] = filled.missing
  if (missing) return planMissing(best.tool, filled.arguments, missing)
  if (best.tool.readOnly || best.exact) return planCall(best.tool, filled.arguments)
  return { kind: 'ask', question: askConfirm(best.tool.name, filled.arguments) }
}

/** Runs a tool that only looks, where a text of the hub's own names it strongly and leaves nothing open. */
export function decideLook(text: string, scene: Scene, done: Outcome[]): Plan | undefined {
  const last = done.at(-1)
  if (last && last.name !== 'find_tools') return sayOutcome(last, scene)
  const best = clearBest(matchTools(text, scene.catalogue.tools), STRONG_SCORE)
  const search = planSearch(text, scene, done, best)
  if (search) return search
  if (!best?.tool.readOnly) return undefined
  const filled = fillArguments(text, best.tool, best.used)
  return filled.missing.length > 0 ? undefined : planCall(best.tool, filled.arguments)
}

/** With the tools behind `find_tools`, they are looked for once, by the words of the sentence and their synonyms. */
function planSearch(
  sentence: string,
  scene: Scene,
  done: Outcome[],
  best: Match | undefined,
): Plan | undefined {
  if (!scene.catalogue.lean || done.length > 0 || best?.exact) return undefined
  const finder = scene.catalogue.callable.find(tool => tool.name === 'find_tools')
  const words = widen(sentence)
  if (!finder || words.length === 0) return undefined
  const limit = finder.fields.find(field => field.name === 'limit')
  const values = {
    query: words.join(' ').slice(0, LONGEST_QUERY),
    ...(limit ? { limit: Math.min(MOST_FOUND, limit.maximum ?? MOST_FOUND) } : {}),
  }
  return { kind: 'call', name: 'find_tools', arguments: values }
}

function sayNearest(sentence: string, matches: Match[]): Plan {
  const nearest: KnownTool[] = matches.slice(0, NEAREST).map(match => match.tool)
  if (isNegated(sentence) && nearest.length > 0) return say('All right, I leave that alone.')
  return say(sayUnplaced(sentence, nearest))
}
