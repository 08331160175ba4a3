import type { RuntimeAgent, RuntimeDeps } from '../deps.ts'
import { toSystemPrompt } from '../prompt.ts'
import { tokensOfPreamble } from '../tokens.ts'

/** Preambles that a cycle's budget covers at least: a smaller one leaves next to nothing for the window. */
const LEAST_PREAMBLES = 4

type Deps = Pick<RuntimeDeps, 'model' | 'toolBox'>

/** A cycle's limit, its prompt and tools, and the least limit, in tokens. `isRefused`: the file's is less. */
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

/** Returns the cycle's token limit in force; undefined for none. It depends on the tools known by now. */
export function tokensInForce(deps: Deps, agent: RuntimeAgent): number | undefined {
  return readTokens(deps, agent).value
}

/** Explains to people why the agent's `limits.tokens` is not in force; undefined if it is. */
export function findTokensProblem(deps: Deps, agent: RuntimeAgent): string | undefined {
  const { preamble, least, isRefused } = readTokens(deps, agent)
  if (!isRefused) return undefined
  const show = (tokens: number) => tokens.toLocaleString('en')
  return `agents/${agent.name}.md: limits.tokens ${show(agent.limits.tokens ?? 0)} is refused: prompt and tools take ${show(preamble)} tokens, and a cycle needs four times as many. Set it to at least ${show(least)}, which is in force until then.`
}

/** Tokens of a window that is made shorter: it still has its summary and its newest message. */
const SMALLEST_WINDOW = 2_000

/** Tells whether a window can be made short enough for a request of so many tokens. */
export function mayShrinkTo(deps: Deps, agent: RuntimeAgent, tokens: number): boolean {
  return tokens >= readTokens(deps, agent).preamble + SMALLEST_WINDOW
}
