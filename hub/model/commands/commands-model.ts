import type { Model } from '../../core/model.ts'
import type { FoundModels } from '../find-models.ts'

/**
 * What answers where no language model is configured: commands and plain questions, from the window alone, at no cost.
 * What changes something asks for a person's yes. Equal requests get equal replies, but for what `find` says of the
 * models on this machine; it is asked only by who wants to know. Throws only the signal's reason.
 */
export function createCommandsModel(find: () => Promise<FoundModels>): Model {
  return {
    name: 'commands',
    context: 32_768,
    maxOutput: 4096,
    canSummarize: false,
    isFree: true,
    readsAllTools: true,
    async complete(request, { signal, onText }) {
      signal.throwIfAborted()
      // A hub whose agents sleep, or have a model, needs neither the words nor the calendars of sixteen languages.
      const { asksForModels, decideReply } = await import('./decide-reply.ts')
      const { text, calls } = decideReply(request, asksForModels(request) ? await find() : undefined)
      signal.throwIfAborted()
      // A text beside a call is told once the call succeeded.
      if (text !== '' && calls.length === 0) onText(text)
      return { text, calls, usage: { input: 0, output: 0, cachedInput: 0 }, truncated: false }
    },
  }
}
