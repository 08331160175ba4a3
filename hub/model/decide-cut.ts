/** A request of the trial with two counts of its tokens: the hub's `estimate` and the provider's `input`. */
export interface CountedRequest {
  estimate: number
  input: number
}

/** Share of the estimate below which a provider's count is suspect: no estimate is so much too high. */
const FAR_BELOW = 0.4
const BELOW = 0.85
/** Share of added tokens up to which a count has not grown: growth by a tenth, or the estimate's error. */
const NO_GROWTH = 0.15
/** Tokens below which a count is no limit: no server is set to give a model so few. */
const LEAST = 512

/**
 * Tells whether the server cut a request, or a second one that adds a long result to the first, and at how
 * many tokens. Ollama does not report a cut: it counts `num_ctx` tokens or one less (newer versions about
 * half of it), however much was sent. `unclear` means that the count is far too low, as it also is on a
 * server that leaves out cached tokens.
 */
export function decideCut(first: CountedRequest, second = first): 'whole' | 'unclear' | { at: number } {
  const added = second.estimate - first.estimate
  const stays = added > 0 && Math.abs(second.input - first.input) <= added * NO_GROWTH
  const isRound = [first, second].some(({ input, estimate }) => isLimit(input) && input < estimate * BELOW)
  const at = Math.max(first.input, second.input)
  if (at >= LEAST && (stays || isRound)) return { at }
  return first.input < first.estimate * FAR_BELOW ? 'unclear' : 'whole'
}

function isLimit(tokens: number): boolean {
  return tokens >= LEAST && (tokens % 1_024 === 0 || (tokens + 1) % 1_024 === 0)
}
