/** A request of the trial: what it has by our estimate, and what the provider counted. */
export interface CountedRequest {
  estimate: number
  input: number
}

/** Even for text that it counts most generously, an estimate is not so much more than a provider's count. */
const FAR_BELOW = 0.4
const BELOW = 0.85
/** Growth that is a tenth of what was added, or an estimate's error. */
const NO_GROWTH = 0.15
/** Fewer tokens than any server is told to give a model. */
const LEAST = 512

/**
 * Whether the server cut a request, or a second one that has the first and a long result, and the most that it counted.
 * Ollama tells nobody: it counts `num_ctx` tokens or one less, newer versions about half of it, however much
 * was sent. `unclear`: it counts far too little, as a server also does that leaves out what it had cached.
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
