import type { Model } from '../../core/model.ts'
import type { FoundModels } from '../find-models.ts'

/**
 * Creates the model that answers where no language model is configured. It answers commands and plain
 * questions from the window alone, at no cost, and asks for a person's yes before a change. Equal requests
 * get equal replies, except about the models on this machine: `find` looks for those, only when a message
 * asks for them. Throws only the signal's reason.
 */
export function createCommandsModel(find: () => Promise<FoundModels>): Model {
  return {
    name: 'commands',
    context: 32_768,
    maxOutput: 4096,
    canSummarize: false,
    isFree: true,
    readsAllTools: true,
    commands: ['help', 'tools', 'call', 'remind', 'schedules', 'models', 'model'],
    async complete(request, { signal, onText }) {
      signal.throwIfAborted()
      // The words and calendars of sixteen languages are loaded late: a hub whose agents sleep or have a
      // model needs neither.
      const { asksForModels, decideReply } = await import('./decide-reply.ts')
      const { text, calls } = decideReply(request, asksForModels(request) ? await find() : undefined)
      signal.throwIfAborted()
      // A text beside a call goes out once the call has succeeded.
      if (text !== '' && calls.length === 0) onText(text)
      return { text, calls, usage: { input: 0, output: 0, cachedInput: 0 }, truncated: false }
    },
  }
}
