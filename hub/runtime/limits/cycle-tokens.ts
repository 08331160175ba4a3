import type { RuntimeAgent, RuntimeDeps } from '../deps.ts'
import { toSystemPrompt } from '../prompt.ts'
import { tokensOfPreamble } from '../tokens.ts'

/** A cycle whose budget is smaller could send its prompt and tools, and next to nothing of its window. */
const LEAST_PREAMBLES = 4

type Deps = Pick<RuntimeDeps, 'model' | 'toolBox'>

/** What a cycle may use, and what prompt and tools want of it at least. `isRefused`: the file says less than that. */
interface CycleTokens {
  value: number | undefined
  preamble: number
  least: number
  isRefused: boolean
}

function readTokens(deps: Deps, agent: RuntimeAgent): CycleTokens {
  const { readsAllTools = false } = deps.model(agent.model)
  const tools = deps.toolBox.list(agent.tools, readsAllTools)
  const preamble = tokensOfPreamble({ system: toSystemPrompt(agent), tools })
  const least = LEAST_PREAMBLES * preamble
  const { tokens } = agent.limits
  const isRefused = tokens !== undefined && tokens < least
  return { value: isRefused ? least : tokens, preamble, least, isRefused }
}

/** The tokens of a cycle that are in force; undefined for no limit. How many tools there are is known only as they come. */
export function tokensInForce(deps: Deps, agent: RuntimeAgent): number | undefined {
  return readTokens(deps, agent).value
}

/** Why the agent's `limits.tokens` is not in force, for people; undefined where it is. */
export function findTokensProblem(deps: Deps, agent: RuntimeAgent): string | undefined {
  const { preamble, least, isRefused } = readTokens(deps, agent)
  if (!isRefused) return undefined
  const show = (tokens: number) => tokens.toLocaleString('en')
  return `agents/${agent.name}.md: limits.tokens ${show(agent.limits.tokens ?? 0)} is refused: prompt and tools take ${show(preamble)} tokens, and a cycle needs four times as many. Set it to at least ${show(least)}, which is in force until then.`
}

/** A window that is made shorter has its summary and its newest message still, tokens. */
const SMALLEST_WINDOW = 2_000

/** Whether a window can be made short enough for a request of so many tokens. */
export function mayShrinkTo(deps: Deps, agent: RuntimeAgent, tokens: number): boolean {
  return tokens >= readTokens(deps, agent).preamble + SMALLEST_WINDOW
}
