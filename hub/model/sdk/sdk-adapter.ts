import type { Clock } from '../../core/clock.ts'
import type { Adapter, ModelEntry } from '../adapter.ts'
import type { ShapedRequest } from '../form/form.ts'
import { createAdapter } from '../wire/stream-reply.ts'
import { type CallOptions, type LanguageModel, type ProviderOptions, toPrompt } from './prompt.ts'
import { createPartsReader } from './reply.ts'

export interface PackageSettings {
  baseURL: string
  apiKey: string
  headers: Record<string, string>
  fetch: typeof globalThis.fetch
}

export interface SdkOptions {
  /** Makes the package's model, a new one for each request. */
  toModel: (settings: PackageSettings) => LanguageModel
  /** Returns the package's own options of a request. */
  toOptions?: (request: ShapedRequest) => ProviderOptions
  /** True where arguments have to keep strictly to their schema; missing for the provider's default. */
  strict?: boolean
  /** Options that mark an end of what is to be cached. */
  mark?: ProviderOptions
}

/** Key for a provider where none is set; without it the packages would read the environment. */
const NO_KEY = 'none'

/** Creates an adapter that asks through the language-model interface of one of the AI SDK's packages. */
export function createSdkAdapter(entry: ModelEntry, clock: Clock, options: SdkOptions): Adapter {
  return createAdapter(entry, clock, {
    toReader: createPartsReader,
    async open(request, fetch) {
      const model = options.toModel({
        baseURL: entry.baseUrl,
        apiKey: entry.apiKey || NO_KEY,
        headers: { ...entry.headers },
        fetch,
      })
      return (await model.doStream(toCallOptions(entry, request, options))).stream
    },
  })
}

function toCallOptions(
  { temperature }: ModelEntry,
  request: ShapedRequest,
  { toOptions, strict, mark }: SdkOptions,
): CallOptions {
  const tools = request.tools.map(({ name, description, inputSchema }) => ({
    type: 'function' as const,
    name,
    description,
    inputSchema,
    ...(strict !== undefined && { strict }),
  }))
  return {
    prompt: toPrompt(request.system, request.messages, mark),
    ...(tools.length > 0 && { tools }),
    maxOutputTokens: request.maxOutput,
    // The packages keep little more than the message of an error in the stream; the raw event has the rest.
    includeRawChunks: true,
    ...(temperature !== undefined && { temperature }),
    ...(toOptions && { providerOptions: toOptions(request) }),
  }
}
