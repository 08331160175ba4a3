import { createHash } from 'node:crypto'
import type { Provider } from '../adapter.ts'
import { IDENTITY, TOOLS, toForm } from '../form/form.ts'
import { createSdkAdapter } from '../sdk/sdk-adapter.ts'

/**
 * OpenAI's Responses API: its newer models refuse tools at chat completions unless they do not reason.
 * Nothing is stored there; the package asks for encrypted thoughts, which go back with the history.
 */
export const openai: Provider = {
  /**
   * The Responses API takes ids of at most 64 characters
   * (https://github.com/experientiallabs/experiential/pull/801), roles in any order, encrypted reasoning with
   * everything that it led to, and pictures in the outputs of functions. OpenAI documents the most tools and
   * the longest description: https://platform.openai.com/docs/guides/function-calling
   */
  form: entry =>
    toForm(entry, { merge: [], startsWithUser: false, images: 'all' }, { ...TOOLS, without: IDENTITY }),
  async open(entry, clock) {
    const { createOpenAI } = await import('@ai-sdk/openai')
    return createSdkAdapter(entry, clock, {
      toModel: settings => createOpenAI(settings).responses(entry.model),
      // A strict schema allows no optional arguments.
      strict: false,
      toOptions: ({ system }) => ({
        openai: {
          store: false,
          promptCacheKey: createHash('sha256').update(system).digest('hex').slice(0, 32),
          ...(entry.reasoning && { reasoningEffort: entry.reasoning }),
        },
      }),
    })
  },
}
