import { z } from 'zod'
import { providerOf } from '../../schemas/providers.ts'
import type { Clock } from '../core/clock.ts'
import type { ModelConfig, Price } from '../core/model.ts'
import { askJson, toShownUrl } from './ask-json.ts'
import {
  count,
  flag,
  LOCAL_NAMES,
  LOCAL_SERVERS,
  type LocalServer,
  type Reported,
  said,
  texts,
} from './local-servers.ts'

export interface ReportedOptions extends Pick<ModelConfig, 'baseUrl' | 'model' | 'apiKey' | 'headers'> {
  /** Name of the provider in the configuration; missing for any OpenAI-compatible server. */
  provider?: string | undefined
  clock: Clock
  /** Milliseconds that each of at most three requests may take. */
  timeout?: number | undefined
}

export type ReportedAnswer = { reported: Reported; server: LocalServer | undefined } | { why: string }

const TIMEOUT = 3_000

/** Asks a provider for the sizes and the price of a model, or tells why nothing is known. Never throws. */
export async function askReported(options: ReportedOptions): Promise<ReportedAnswer> {
  const { baseUrl, provider, model } = options
  if (providerOf(provider)?.listsNames) return { why: `${provider} reports no sizes or prices` }
  const listed = await listServer(options)
  if ('why' in listed) return listed
  const { server, list } = listed
  const askRoot = async (path: string, body?: unknown) => {
    const answer = await ask(options, `${rootOf(options)}${path}`, body)
    return 'value' in answer ? answer.value : undefined
  }
  const read = server && (await LOCAL_SERVERS[server].report(askRoot, model))
  const reported = { ...fromModelList(list, model), ...read }
  const isKnown = Object.values(reported).some(value => value !== undefined)
  return isKnown
    ? { reported, server }
    : { why: `${toShownUrl(baseUrl)} says nothing of ${model} but its name` }
}

/** Asks which program answers at an address, with which models: in one request, or two for Ollama. */
export async function listServer(options: Omit<ReportedOptions, 'model'>) {
  const answer = await ask(options, `${options.baseUrl}/models`)
  if ('why' in answer) return answer
  const list = modelList.safeParse(answer.value)
  if (!list.success) return { why: `${toShownUrl(options.baseUrl)} lists no models` }
  const models = list.data.data.map(({ id }) => id)
  const owners = new Set(list.data.data.map(({ owned_by }) => owned_by))
  const known = LOCAL_NAMES.findLast(name => owners.has(LOCAL_SERVERS[name].owner))
  const server: LocalServer | undefined = known ?? ((await isOllama(options)) ? 'ollama' : undefined)
  return { server, models, list: answer.value }
}

async function isOllama(options: Omit<ReportedOptions, 'model'>): Promise<boolean> {
  if (!options.baseUrl.startsWith('http:')) return false
  const answer = await ask(options, `${rootOf(options)}/api/version`)
  return 'value' in answer && z.object({ version: z.string() }).safeParse(answer.value).success
}

function rootOf({ baseUrl }: { baseUrl: string }): string {
  return baseUrl.replace(/\/v1$/, '')
}

function ask(options: Omit<ReportedOptions, 'model'>, url: string, body?: unknown) {
  const { apiKey, headers, clock, timeout = TIMEOUT } = options
  const key = apiKey ? { authorization: `Bearer ${apiKey}` } : {}
  return askJson({ url, body, clock, timeout, headers: { ...key, ...headers } })
}

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
