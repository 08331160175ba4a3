import type { Clock } from '../../core/clock.ts'
import type { Adapter, ModelEntry } from '../adapter.ts'
import type { ShapedRequest } from '../form/form.ts'
import { editOf, familyOf, timeoutOf, toProvider } from '../wire/entry.ts'
import { readReply } from '../wire/read-reply.ts'
import { openWireCall } from '../wire/wire-call.ts'
import type { CallOptions, LanguageModel, ProviderOptions } from './language-model.ts'
import { createPartsReader } from './reply.ts'
import { toPrompt } from './to-prompt.ts'

/** What a package is made with. */
export interface PackageSettings {
  baseURL: string
  apiKey: string
  headers: Record<string, string>
  fetch: typeof globalThis.fetch
}

export interface SdkOptions {
  clock: Clock
  /** The package's model; a new one for each request. */
  toModel: (settings: PackageSettings) => LanguageModel
  /** The package's own options of a request. */
  toOptions?: (request: ShapedRequest) => ProviderOptions
  /** Whether arguments have to be as strict as their schema, where the provider's default is not ours. */
  strict?: boolean
  /** Marks an end of what is to be cached. */
  mark?: ProviderOptions
}

/** What a provider gets for a key where none is set: the packages would read the environment instead. */
const NO_KEY = 'none'

/** Asks through one of the AI SDK's provider packages, at its language-model interface. */
export function createSdkAdapter(entry: ModelEntry, options: SdkOptions): Adapter {
  const provider = toProvider(entry)
  return {
    async ask(request, { signal, onText, onCut, makeId, without }) {
      signal.throwIfAborted()
      const edit = editOf(entry, without)
      using call = openWireCall({ provider, clock: options.clock, signal, timeout: timeoutOf(entry), edit })
      const reply = createPartsReader({ provider, family: familyOf(entry), onText, makeId })
      const open = async () => {
        const model = options.toModel({
          baseURL: entry.baseUrl,
          apiKey: provider.apiKey || NO_KEY,
          headers: { ...entry.headers },
          fetch: call.fetch,
        })
        const { stream } = await model.doStream(toCallOptions(entry, request, options))
        return stream
      }
      return await readReply(call, signal, reply, open, {
        provider,
        maxOutput: request.maxOutput,
        ...(onCut && { onCut }),
      })
    },
  }
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
    // Of an error within the stream the packages keep as little as its message.
    includeRawChunks: true,
    ...(temperature !== undefined && { temperature }),
    ...(toOptions && { providerOptions: toOptions(request) }),
  }
}
