import { z } from 'zod'
import type { Price } from '../core/model.ts'

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

/** Asks a path at the root of a server; undefined where it has no answer. */
type Ask = (path: string, body?: unknown) => Promise<unknown>

/** A model server that people run on their own machine. */
interface LocalProgram {
  title: string
  /** Port that it listens to by default. */
  port: number
  /** Value of `owned_by` in its list of models. Ollama writes the model's namespace, which may be any name. */
  owner: string
  /** Asks its own API for what the list of models does not have. */
  report(ask: Ask, model: string): Promise<Reported | undefined>
  giveContext(tokens: number): string
  giveTools: string
}

export const LOCAL_SERVERS = {
  ollama: {
    title: 'Ollama',
    port: 11_434,
    owner: 'library',
    async report(ask, model) {
      const [show, running] = await Promise.all([ask('/api/show', { model }), ask('/api/ps')])
      return fromOllama(show, running, model)
    },
    giveContext: tokens =>
      `Set OLLAMA_CONTEXT_LENGTH=${tokens} where Ollama runs, or "PARAMETER num_ctx ${tokens}" in the model's Modelfile, and start it again.`,
    giveTools: 'Choose a model for which "ollama show MODEL" lists tools.',
  },
  'lm-studio': {
    title: 'LM Studio',
    port: 1_234,
    owner: 'organization_owner',
    report: async (ask, model) =>
      fromLmStudio(await ask('/api/v1/models'), model) ?? fromLmStudio(await ask('/api/v0/models'), model),
    giveContext: tokens => `Load the model with a longer context: lms load MODEL --context-length ${tokens}.`,
    giveTools: 'Choose a model that LM Studio marks as trained for tool use.',
  },
  'llama.cpp': {
    title: 'llama.cpp',
    port: 8_080,
    owner: 'llamacpp',
    // A server with several models needs the name, and `autoload=false` keeps it from loading the model.
    report: async (ask, model) =>
      fromLlamaCpp(await ask(`/props?model=${encodeURIComponent(model)}&autoload=false`)),
    giveContext: tokens =>
      `Start llama-server with --ctx-size ${tokens}; with --parallel that is divided by the slots.`,
    giveTools: 'Start llama-server with --jinja, and choose a model whose chat template knows tools.',
  },
  vllm: {
    title: 'vLLM',
    port: 8_000,
    owner: 'vllm',
    report: async () => undefined,
    giveContext: tokens => `Start vLLM with --max-model-len ${tokens}.`,
    giveTools: 'Start vLLM with --enable-auto-tool-choice and the --tool-call-parser of the model.',
  },
} as const satisfies Record<string, LocalProgram>

export type LocalServer = keyof typeof LOCAL_SERVERS

export const LOCAL_NAMES = Object.keys(LOCAL_SERVERS) as LocalServer[]

const USUAL_CONTEXT = 32_768

/** Tells a person how to give a model a context of at least `tokens`. */
export function adviseContext(server: LocalServer | undefined, tokens: number): string {
  const context = Math.max(USUAL_CONTEXT, 2 ** Math.ceil(Math.log2(tokens)))
  return server
    ? LOCAL_SERVERS[server].giveContext(context)
    : `Give the model a context of ${context} tokens where it runs, or the agent fewer tools.`
}

export function adviseTools(server: LocalServer | undefined): string {
  return server ? LOCAL_SERVERS[server].giveTools : 'Choose a model that calls tools.'
}

/** Reads a count of tokens; any other value counts as missing. */
export const count = z.number().int().positive().optional().catch(undefined)
export const texts = z.array(z.string()).optional().catch(undefined)
export const flag = z.boolean().optional().catch(undefined)
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

/** Returns a report without the fields that are missing. */
export function said(reported: Reported): Reported {
  return Object.fromEntries(Object.entries(reported).filter(([, value]) => value !== undefined))
}
