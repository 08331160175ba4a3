import { setImmediate } from 'node:timers/promises'
import type { Model } from '../../core/model.ts'

const MOST_PIECES = 48

/**
 * The model that answers when no language model is configured: by rules, from the window alone, without a network,
 * at no cost. Equal requests get equal replies. Throws only the signal's reason.
 */
export function createRulesModel(): Model {
  return {
    name: 'rules',
    context: 32_768,
    maxOutput: 4096,
    canSummarize: false,
    isFree: true,
    readsAllTools: true,
    async complete(request, { signal, onText }) {
      signal.throwIfAborted()
      // A hub whose agents sleep needs none of the rules' words.
      const [{ decideReply }, { toAnnouncement }] = await Promise.all([
        import('./decide-reply.ts'),
        import('./announce.ts'),
      ])
      const { text, calls } = toAnnouncement(request, decideReply(request))
      for (const piece of toPieces(text)) {
        onText(piece)
        await setImmediate()
        signal.throwIfAborted()
      }
      return { text, calls, usage: { input: 0, output: 0, cachedInput: 0 }, truncated: false }
    },
  }
}

/** Whole words, one by one in a short text, several together in a long one; joined they are the text. */
function toPieces(text: string): string[] {
  const words = text.match(/\s*\S+\s*$|\s*\S+/g) ?? []
  const size = Math.max(1, Math.ceil(words.length / MOST_PIECES))
  const count = Math.ceil(words.length / size)
  return Array.from({ length: count }, (_, index) => words.slice(index * size, (index + 1) * size).join(''))
}
