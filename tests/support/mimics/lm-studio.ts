import type { ChatRequest } from './chat.ts'
import { createLlamaCpp, type LlamaCppOptions, refuseAsLlamaCpp } from './llama-cpp.ts'
import { createCheck, type Provider, type Script, startMimic } from './mimic.ts'

export interface LmStudioOptions extends LlamaCppOptions {
  /** True to refuse by an event in a stream that began with 200, as some versions do. */
  refusesInStream?: boolean
}

/**
 * Creates LM Studio: llama.cpp, whose refusals it wraps (lmstudio-bug-tracker #2247, hermes-agent PR 67349).
 */
const createLmStudio = ({
  refusesInStream = false,
  ...options
}: LmStudioOptions = {}): Provider<ChatRequest> => ({
  ...createLlamaCpp(options),
  name: 'lm-studio',
  refuse(fault) {
    const { status, body } = refuseAsLlamaCpp(fault)
    const error = `Engine protocol predict request returned ${status}: ${JSON.stringify(body)}`
    return refusesInStream
      ? { status, inStream: true, body: { error: { message: error } } }
      : { status, body: { error } }
  },
  pages: {
    '/v1/models': { object: 'list', data: [{ id: 'qwen/qwen3-8b', object: 'model' }] },
    '/api/v0/models': {
      object: 'list',
      data: [
        {
          id: 'qwen/qwen3-8b',
          object: 'model',
          type: options.vision ? 'vlm' : 'llm',
          state: 'loaded',
          max_context_length: options.context ?? 131_072,
          loaded_context_length: options.context ?? 131_072,
        },
      ],
    },
  },
})

export const lmStudioRules = createLmStudio().rules
export const checkLmStudio = createCheck(createLmStudio())
export const startLmStudioMimic = (script: Script, options?: LmStudioOptions) =>
  startMimic(createLmStudio(options), script)
