/** The content with which the window begins after a part of the history left it. */
export interface Head {
  reason: string
  summary: string
  /** Summaries of earlier sessions, oldest first. */
  earlier: readonly string[]
  /** The stored context, in words. */
  context: string
}

const LONGEST_EARLIER = 2_000

/** Returns the one user message that stands for everything before the window. */
export function toHead({ reason, summary, earlier, context }: Head): string {
  const why = reason === 'idle' ? 'You slept for long' : 'Your older history left your view'
  return [
    `[SUMMARY] ${why}; this stands for it. Everything is still there: search_history finds it.`,
    ...earlier.map((text, index) => `Earlier summary ${index + 1}:\n${text.slice(0, LONGEST_EARLIER)}`),
    summary,
    context,
  ].join('\n\n')
}
