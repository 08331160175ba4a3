import { z } from 'zod'
import type { Clock } from '../core/clock.ts'
import type { Price } from '../core/model.ts'
import { askJson, toShownUrl } from './ask-json.ts'

/** A provider's report about one of its models; a field that it does not report is missing. */
export interface Reported {
  /** Tokens of request and reply together, as the server runs the model now. */
  context?: number | undefined
  /** Tokens that the model could be run with. A local server may give it fewer, and cuts longer requests. */
  longest?: number | undefined
  maxOutput?: number | undefined
  price?: Price | undefined
  vision?: boolean | undefined
  tools?: boolean | undefined
}

/** A model server that people run on their own machine. */
export type LocalServer = 'ollama' | 'lm-studio' | 'llama.cpp' | 'vllm'

export interface ReportedOptions {
  /** Address as the configuration has it; most end in `/v1`. */
  baseUrl: string
  /** Name of the provider in the configuration; missing for any OpenAI-compatible server. */
  provider?: string | undefined
  model: string
  apiKey?: string | undefined
  headers?: Readonly<Record<string, string>> | undefined
  clock: Clock
  /** Milliseconds that each of at most three requests may take. */
  timeout?: number
}

export type ReportedAnswer = { reported: Reported; server: LocalServer | undefined } | { why: string }

const TIMEOUT = 3_000

/** Providers whose list has only names or needs another kind of key: known-models.ts has their models. */
const SILENT: ReadonlySet<string> = new Set(['openai', 'anthropic', 'google', 'deepseek'])

/** Asks a provider for the sizes and the price of a model, or tells why nothing is known. Never throws. */
export async function askReported(options: ReportedOptions): Promise<ReportedAnswer> {
  const { baseUrl, provider, model } = options
  if (provider !== undefined && SILENT.has(provider)) return { why: `${provider} reports no sizes or prices` }
  const listed = await listServer(options)
  if ('why' in listed) return listed
  const { server, list } = listed
  const read = server && (await askNative(server, options))
  const reported = { ...fromModelList(list, model), ...read }
  const said = Object.values(reported).some(value => value !== undefined)
  return said ? { reported, server } : { why: `${toShownUrl(baseUrl)} says nothing of ${model} but its name` }
}

export interface ListedServer {
  server: LocalServer | undefined
  models: string[]
  list: unknown
}

/** Asks which program answers at an address, with which models: in one request, or two for Ollama. */
export async function listServer(
  options: Omit<ReportedOptions, 'model'>,
): Promise<ListedServer | { why: string }> {
  const answer = await ask(options, `${options.baseUrl}/models`)
  if ('why' in answer) return answer
  const list = modelList.safeParse(answer.value)
  if (!list.success) return { why: `${toShownUrl(options.baseUrl)} lists no models` }
  const models = list.data.data.map(({ id }) => id)
  const owners = new Set(list.data.data.map(({ owned_by }) => owned_by))
  const known = OWNERS.find(([owner]) => owners.has(owner))?.[1]
  const server = known ?? ((await isOllama(options)) ? 'ollama' : undefined)
  return { server, models, list: answer.value }
}

/** Values of `owned_by` that tell a program. Ollama writes the model's namespace, which may be any name. */
const OWNERS: readonly (readonly [string, LocalServer])[] = [
  ['vllm', 'vllm'],
  ['llamacpp', 'llama.cpp'],
  ['organization_owner', 'lm-studio'],
  ['library', 'ollama'],
]

async function isOllama(options: Omit<ReportedOptions, 'model'>): Promise<boolean> {
  if (!options.baseUrl.startsWith('http:')) return false
  const answer = await ask(options, `${rootOf(options)}/api/version`)
  return 'value' in answer && z.object({ version: z.string() }).safeParse(answer.value).success
}

/** Asks the program's own API for what the list does not have. */
async function askNative(server: LocalServer, options: ReportedOptions): Promise<Reported | undefined> {
  const { model } = options
  const root = rootOf(options)
  const value = async (path: string, body?: unknown) => {
    const answer = await ask(options, `${root}${path}`, body)
    return 'value' in answer ? answer.value : undefined
  }
  switch (server) {
    case 'ollama': {
      const [show, running] = await Promise.all([value('/api/show', { model }), value('/api/ps')])
      return fromOllama(show, running, model)
    }
    case 'lm-studio':
      return (
        fromLmStudio(await value('/api/v1/models'), model) ??
        fromLmStudio(await value('/api/v0/models'), model)
      )
    case 'llama.cpp':
      // A server with several models needs the name, and `autoload=false` keeps it from loading the model.
      return fromLlamaCpp(await value(`/props?model=${encodeURIComponent(model)}&autoload=false`))
    case 'vllm':
      return undefined
    default:
      return server satisfies never
  }
}

function rootOf({ baseUrl }: { baseUrl: string }): string {
  return baseUrl.replace(/\/v1$/, '')
}

function ask(options: Omit<ReportedOptions, 'model'>, url: string, body?: unknown) {
  const { apiKey, headers, clock, timeout = TIMEOUT } = options
  const key = apiKey ? { authorization: `Bearer ${apiKey}` } : {}
  return askJson({ url, body, clock, timeout, headers: { ...key, ...headers } })
}

/** Reads a count of tokens; any other value counts as missing. */
const count = z.number().int().positive().optional().catch(undefined)
const texts = z.array(z.string()).optional().catch(undefined)
const flag = z.boolean().optional().catch(undefined)
const money = z
  .union([z.string().min(1), z.number()])
  .transform(Number)
  .pipe(z.number().nonnegative())
  .optional()
  .catch(undefined)

const listEntry = z.object({
  id: z.string(),
  owned_by: z.string().catch(''),
  context_length: count,
  context_window: count,
  max_context_length: count,
  max_model_len: count,
  max_completion_tokens: count,
  top_provider: z.object({ context_length: count, max_completion_tokens: count }).optional().catch(undefined),
  architecture: z.object({ input_modalities: texts }).optional().catch(undefined),
  supported_parameters: texts,
  capabilities: z.object({ vision: flag, function_calling: flag }).optional().catch(undefined),
  pricing: z
    .object({ prompt: money, completion: money, input_cache_read: money })
    .optional()
    .catch(undefined),
  meta: z.object({ n_ctx_train: count }).optional().catch(undefined),
})

const modelList = z.object({
  data: z
    .array(listEntry)
    .nullable()
    .transform(data => data ?? []),
})

/**
 * Reads `GET /models` of OpenRouter, Mistral, Groq, vLLM and llama.cpp, each of which adds fields to
 * OpenAI's. A model's name at OpenRouter may have a suffix that the list lacks, such as `:nitro`.
 */
export function fromModelList(body: unknown, model: string): Reported | undefined {
  const list = modelList.safeParse(body).data?.data ?? []
  const entry =
    list.find(({ id }) => id === model) ?? list.find(({ id }) => id === model.replace(/:[^:]*$/, ''))
  if (!entry) return undefined
  const { top_provider: top, architecture, capabilities, supported_parameters: parameters } = entry
  const whole =
    entry.context_length ?? entry.context_window ?? entry.max_context_length ?? entry.max_model_len
  return said({
    // `top_provider`, where OpenRouter sends requests first, may give less than `context_length`.
    context: whole === undefined ? undefined : Math.min(whole, top?.context_length ?? whole),
    longest: entry.meta?.n_ctx_train,
    maxOutput: top?.max_completion_tokens ?? entry.max_completion_tokens,
    price: toPrice(entry.pricing),
    vision: architecture?.input_modalities?.includes('image') ?? capabilities?.vision,
    tools: parameters?.includes('tools') ?? capabilities?.function_calling,
  })
}

/**
 * Converts dollars per token (texts) into a price per million tokens. OpenRouter's routers, which choose
 * another model each time, have -1 and get no price.
 */
function toPrice(pricing: z.infer<typeof listEntry>['pricing']): Price | undefined {
  const { prompt, completion, input_cache_read: cached = prompt } = pricing ?? {}
  if (prompt === undefined || completion === undefined || cached === undefined) return undefined
  const perMillion = (dollars: number) => Math.round(dollars * 1e12) / 1e6
  return {
    currency: 'USD',
    input: perMillion(prompt),
    cachedInput: perMillion(cached),
    output: perMillion(completion),
  }
}

const ollamaShow = z.object({
  parameters: z.string().catch(''),
  model_info: z.record(z.string(), z.unknown()).catch({}),
  capabilities: texts,
  remote_host: z.string().optional().catch(undefined),
})

const ollamaRunning = z.object({
  models: z.array(z.object({ name: z.string(), context_length: count })).catch([]),
})

/**
 * Reads Ollama's `POST /api/show` and `GET /api/ps`. The model's own context does not tell what Ollama gives
 * it: Ollama takes the model's `num_ctx`, else what it runs with, else a default that depends on the graphics
 * card's memory and is 4,096 on most. Models of Ollama's cloud run with their whole context.
 */
export function fromOllama(show: unknown, running: unknown, model: string): Reported | undefined {
  const shown = ollamaShow.safeParse(show).data
  if (!shown) return undefined
  const info = Object.entries(shown.model_info).find(([key]) => key.endsWith('.context_length'))?.[1]
  const longest = count.parse(info)
  const fixed = /^num_ctx\s+(\d+)/m.exec(shown.parameters)?.[1]
  const names = new Set([model, `${model}:latest`])
  const loaded = ollamaRunning
    .safeParse(running)
    .data?.models.find(({ name }) => names.has(name))?.context_length
  const given = fixed === undefined ? loaded : Number(fixed)
  const context = shown.remote_host === undefined ? given : longest
  return said({
    context: context === undefined ? undefined : Math.min(context, longest ?? context),
    longest,
    vision: shown.capabilities?.includes('vision'),
    tools: shown.capabilities?.includes('tools'),
  })
}

const lmStudioV1 = z.object({
  models: z.array(
    z.object({
      key: z.string(),
      max_context_length: count,
      loaded_instances: z
        .array(z.object({ id: z.string().catch(''), config: z.object({ context_length: count }).catch({}) }))
        .catch([]),
      capabilities: z.object({ vision: flag, trained_for_tool_use: flag }).optional().catch(undefined),
    }),
  ),
})

const lmStudioV0 = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      type: z.string().optional(),
      max_context_length: count,
      loaded_context_length: count,
      capabilities: texts,
    }),
  ),
})

/**
 * Reads LM Studio's `GET /api/v1/models` (from 0.4 on) or `GET /api/v0/models`. A model that is not loaded
 * has no context yet.
 */
export function fromLmStudio(body: unknown, model: string): Reported | undefined {
  const newer = lmStudioV1
    .safeParse(body)
    .data?.models.find(
      ({ key, loaded_instances }) => key === model || loaded_instances.some(({ id }) => id === model),
    )
  if (newer) {
    const { loaded_instances: loaded, capabilities, max_context_length: longest } = newer
    // LM Studio chooses which of several instances gets a request, so the smallest context counts.
    const contexts = loaded.flatMap(({ config }) => config.context_length ?? [])
    return said({
      context: contexts.length > 0 ? Math.min(...contexts) : undefined,
      longest,
      vision: capabilities?.vision,
      tools: capabilities?.trained_for_tool_use,
    })
  }
  const older = lmStudioV0.safeParse(body).data?.data.find(({ id }) => id === model)
  if (!older) return undefined
  return said({
    context: older.loaded_context_length,
    longest: older.max_context_length,
    vision: older.type === undefined ? undefined : older.type === 'vlm',
    tools: older.capabilities?.includes('tool_use'),
  })
}

const llamaProps = z.object({
  default_generation_settings: z.object({ n_ctx: count }),
  modalities: z.object({ vision: flag }).optional().catch(undefined),
})

/** Reads llama.cpp's `GET /props`. Its `n_ctx` is what one request may have: the whole divided by slots. */
export function fromLlamaCpp(body: unknown): Reported | undefined {
  const props = llamaProps.safeParse(body).data
  return props && said({ context: props.default_generation_settings.n_ctx, vision: props.modalities?.vision })
}

function said(reported: Reported): Reported {
  return Object.fromEntries(Object.entries(reported).filter(([, value]) => value !== undefined))
}
