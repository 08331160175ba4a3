import { afterEach, describe, expect, it } from 'vitest'
import { serve } from '../../tests/support/provider.ts'
import { systemClock } from '../core/clock.ts'
import { findModels, localAddresses } from './find-models.ts'
import { fromLlamaCpp, fromLmStudio, fromOllama } from './local-servers.ts'
import { askReported, fromModelList } from './reported.ts'

// From Ollama's docs/openapi.yaml (ollama/ollama at fb307609), shortened.
const OLLAMA_SHOW = {
  parameters: 'temperature 0.7\nnum_ctx 2048',
  capabilities: ['completion', 'vision'],
  details: { format: 'gguf', family: 'gemma4', parameter_size: '8.0B', quantization_level: 'Q4_K_M' },
  model_info: { 'gemma4.attention.head_count': 8, 'gemma4.context_length': 131_072, 'general.file_type': 15 },
}
const OLLAMA_PS = {
  models: [{ name: 'gemma4', model: 'gemma4', size: 6_591_830_464, context_length: 4_096 }],
}
// From Ollama's openai/openai.go: `owned_by` is the namespace of the model's name.
const OLLAMA_LIST = {
  object: 'list',
  data: [
    { id: 'gemma4', object: 'model', created: 1_755_000_000, owned_by: 'library' },
    { id: 'nomic-embed-text:latest', object: 'model', created: 1_755_000_000, owned_by: 'library' },
  ],
}

// From lmstudio-ai/lmstudio-bug-tracker #1659, shortened.
const LM_STUDIO_V1 = {
  models: [
    {
      type: 'llm',
      key: 'google/gemma-3-4b',
      loaded_instances: [],
      max_context_length: 131_072,
      capabilities: { vision: true, trained_for_tool_use: false },
    },
    {
      type: 'llm',
      key: 'qwen/qwen3.5-9b',
      loaded_instances: [
        { id: 'qwen/qwen3.5-9b', config: { context_length: 4_096, eval_batch_size: 512 } },
        { id: 'qwen/qwen3.5-9b:2', config: { context_length: 8_192, eval_batch_size: 512 } },
      ],
      max_context_length: 262_144,
      capabilities: { vision: true, trained_for_tool_use: true },
    },
    { type: 'embedding', key: 'text-embedding-nomic-embed-text-v1.5', max_context_length: 2_048 },
  ],
}
// From https://lmstudio.ai/docs/developer/rest/endpoints (before 0.4).
const LM_STUDIO_V0 = {
  object: 'list',
  data: [
    {
      id: 'qwen2-vl-7b-instruct',
      object: 'model',
      type: 'vlm',
      state: 'loaded',
      max_context_length: 32_768,
      loaded_context_length: 4_096,
      capabilities: ['tool_use'],
    },
    {
      id: 'meta-llama-3.1-8b-instruct',
      object: 'model',
      type: 'llm',
      state: 'not-loaded',
      max_context_length: 131_072,
    },
  ],
}
const LM_STUDIO_LIST = {
  data: [{ id: 'qwen/qwen3.5-9b', object: 'model', owned_by: 'organization_owner' }],
  object: 'list',
}

// From llama.cpp's tools/server/README.md (ggml-org/llama.cpp at 00dc8057), shortened.
const LLAMA_PROPS = {
  default_generation_settings: { id: 0, id_task: -1, n_ctx: 1_024, speculative: false },
  total_slots: 1,
  model_path: '../models/Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf',
  modalities: { vision: false },
  build_info: 'b(build number)-(build commit hash)',
}
const LLAMA_LIST = {
  object: 'list',
  data: [
    {
      id: 'llama',
      object: 'model',
      architecture: { input_modalities: ['text'], output_modalities: ['text'] },
      owned_by: 'llamacpp',
      meta: { vocab_type: 2, n_ctx_train: 131_072, n_params: 8_030_261_248 },
    },
  ],
}

// From https://manual.seahorse.dnotitia.ai/api-reference/inference/get-list-models, which shows vLLM's answer.
const VLLM_LIST = {
  object: 'list',
  data: [
    { id: 'qwen', object: 'model', max_model_len: 16_384, owned_by: 'vllm', root: 'qwen', parent: null },
  ],
}

// From https://openrouter.ai/api/v1/models as of 2026: prices are dollars for one token.
const OPENROUTER_LIST = {
  data: [
    {
      id: 'deepseek/deepseek-v4-pro',
      context_length: 1_048_576,
      architecture: { modality: 'text->text', input_modalities: ['text'], output_modalities: ['text'] },
      pricing: { prompt: '0.00000096', completion: '0.0000038', input_cache_read: '0.0000001' },
      top_provider: { context_length: 163_840, max_completion_tokens: 65_536, is_moderated: false },
      supported_parameters: ['max_tokens', 'tools'],
    },
    {
      id: 'typesafe/jev-router',
      context_length: 1_000_000,
      architecture: { modality: 'text+image->text', input_modalities: ['text', 'image'] },
      pricing: { prompt: '-1', completion: '-1' },
      top_provider: { context_length: null, max_completion_tokens: null, is_moderated: false },
      supported_parameters: [],
    },
    {
      id: 'meta-llama/llama-4-scout:free',
      context_length: 131_072,
      pricing: { prompt: '0', completion: '0', request: '0', image: '0' },
      top_provider: { context_length: 131_072, max_completion_tokens: null, is_moderated: false },
    },
  ],
}

// From https://docs.mistral.ai/api (list models), shortened.
const MISTRAL_LIST = {
  object: 'list',
  data: [
    {
      id: 'mistral-small-latest',
      object: 'model',
      owned_by: 'mistralai',
      capabilities: { completion_chat: true, function_calling: true, vision: true },
      max_context_length: 131_072,
      aliases: [],
    },
  ],
}

describe('what a provider reports', () => {
  it('is for Ollama what it gives the model, not what the model could have', () => {
    const fixed = { context: 2_048, longest: 131_072, vision: true, tools: false }
    expect(fromOllama(OLLAMA_SHOW, OLLAMA_PS, 'gemma4')).toEqual(fixed)
    const free = { ...OLLAMA_SHOW, parameters: 'temperature 0.7' }
    expect(fromOllama(free, OLLAMA_PS, 'gemma4')).toEqual({ ...fixed, context: 4_096 })
    expect(fromOllama(free, { models: [] }, 'gemma4')).toEqual({
      longest: 131_072,
      vision: true,
      tools: false,
    })
    const tagged = { models: [{ name: 'gemma4:latest', context_length: 32_768 }] }
    expect(fromOllama(free, tagged, 'gemma4')).toMatchObject({ context: 32_768 })
    const cloud = { ...free, remote_host: 'https://ollama.com:443' }
    expect(fromOllama(cloud, { models: [] }, 'gemma4')).toMatchObject({ context: 131_072 })
    expect(fromOllama({ error: 'model not found' }, undefined, 'x')).toEqual({})
  })

  it('is for LM Studio the least of the instances that are loaded', () => {
    expect(fromLmStudio(LM_STUDIO_V1, 'qwen/qwen3.5-9b')).toEqual({
      context: 4_096,
      longest: 262_144,
      vision: true,
      tools: true,
    })
    expect(fromLmStudio(LM_STUDIO_V1, 'google/gemma-3-4b')).toEqual({
      longest: 131_072,
      vision: true,
      tools: false,
    })
    expect(fromLmStudio(LM_STUDIO_V0, 'qwen2-vl-7b-instruct')).toEqual({
      context: 4_096,
      longest: 32_768,
      vision: true,
      tools: true,
    })
    expect(fromLmStudio(LM_STUDIO_V0, 'meta-llama-3.1-8b-instruct')).toEqual({
      longest: 131_072,
      vision: false,
    })
    expect(
      fromLmStudio({ error: 'Unexpected endpoint or method. (GET /api/v1/models)' }, 'x'),
    ).toBeUndefined()
  })

  it('is for llama.cpp what one slot has', () => {
    expect(fromLlamaCpp(LLAMA_PROPS)).toEqual({ context: 1_024, vision: false })
    expect(fromLlamaCpp('<html>')).toBeUndefined()
  })

  it('is read from lists of models, whatever each provider adds to them', () => {
    expect(fromModelList(VLLM_LIST, 'qwen')).toEqual({ context: 16_384 })
    expect(fromModelList(MISTRAL_LIST, 'mistral-small-latest')).toEqual({
      context: 131_072,
      vision: true,
      tools: true,
    })
    expect(fromModelList(OPENROUTER_LIST, 'deepseek/deepseek-v4-pro:nitro')).toEqual({
      context: 163_840,
      maxOutput: 65_536,
      price: { currency: 'USD', input: 0.96, cachedInput: 0.1, output: 3.8 },
      vision: false,
      tools: true,
    })
    expect(fromModelList(OPENROUTER_LIST, 'typesafe/jev-router')).toEqual({
      context: 1_000_000,
      vision: true,
      tools: false,
    })
    expect(fromModelList(OPENROUTER_LIST, 'meta-llama/llama-4-scout:free')?.price?.input).toBe(0)
    expect(fromModelList(OPENROUTER_LIST, 'nobody/nothing')).toBeUndefined()
    expect(fromModelList({ data: 'none' }, 'x')).toBeUndefined()
  })
})

describe('asking a server', () => {
  const open: AsyncDisposable[] = []
  afterEach(async () => {
    for (const one of open.splice(0)) await one[Symbol.asyncDispose]()
  })

  /** Serves JSON at some paths and records the requests. Unknown paths are answered as LM Studio does. */
  async function serveJson(routes: Record<string, unknown>, unknown = 404) {
    const asked: string[] = []
    const server = await serve((response, _body, { method, url = '' }) => {
      asked.push(`${method} ${url}`)
      const value = routes[url]
      response.writeHead(value === undefined ? unknown : 200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(value ?? { error: `Unexpected endpoint or method. (${method} ${url})` }))
    })
    open.push(server)
    return { url: server.url, asked }
  }
  const ask = (baseUrl: string, model: string, provider?: string) =>
    askReported({ baseUrl, model, provider, clock: systemClock, timeout: 5_000 })

  it('tells the programs apart by what they answer, and asks each in its own way', async () => {
    const ollama = await serveJson({
      '/v1/models': OLLAMA_LIST,
      '/api/show': OLLAMA_SHOW,
      '/api/ps': OLLAMA_PS,
    })
    expect(await ask(ollama.url, 'gemma4')).toMatchObject({ server: 'ollama', reported: { context: 2_048 } })

    const newer = await serveJson({ '/v1/models': LM_STUDIO_LIST, '/api/v1/models': LM_STUDIO_V1 }, 200)
    expect(await ask(newer.url, 'qwen/qwen3.5-9b')).toMatchObject({
      server: 'lm-studio',
      reported: { context: 4_096 },
    })
    expect(newer.asked).toEqual(['GET /v1/models', 'GET /api/v1/models'])

    const list = { data: [{ id: 'qwen2-vl-7b-instruct', owned_by: 'organization_owner' }] }
    const older = await serveJson({ '/v1/models': list, '/api/v0/models': LM_STUDIO_V0 }, 200)
    expect(await ask(older.url, 'qwen2-vl-7b-instruct')).toMatchObject({ reported: { longest: 32_768 } })

    const props = '/props?model=llama&autoload=false'
    const llama = await serveJson({ '/v1/models': LLAMA_LIST, [props]: LLAMA_PROPS })
    expect(await ask(llama.url, 'llama')).toEqual({
      server: 'llama.cpp',
      reported: { context: 1_024, longest: 131_072, vision: false },
    })

    const vllm = await serveJson({ '/v1/models': VLLM_LIST })
    expect(await ask(vllm.url, 'qwen')).toEqual({ server: 'vllm', reported: { context: 16_384 } })
    expect(vllm.asked).toEqual(['GET /v1/models'])
  })

  it('knows Ollama by its version where the list does not tell', async () => {
    const none = await serveJson({
      '/v1/models': { object: 'list', data: null },
      '/api/version': { version: '0.12.1' },
    })
    const found = await findModels({
      addresses: [none.url],
      environment: () => undefined,
      clock: systemClock,
    })
    expect(found.servers).toEqual([{ baseUrl: none.url, server: 'ollama', models: [] }])
  })

  it('gives a reason where nothing is known, and never throws', async () => {
    const gone = await serve(() => undefined)
    await gone[Symbol.asyncDispose]()
    expect(await ask(gone.url, 'm')).toEqual({ why: expect.stringContaining('ECONNREFUSED') })
    expect(await ask('http://127.0.0.1:1/v1', 'm', 'anthropic')).toEqual({
      why: 'anthropic reports no sizes or prices',
    })
    const secret = gone.url.replace('//', '//user:hunter2@')
    expect(await ask(secret, 'm')).toEqual({ why: expect.not.stringContaining('hunter2') })
    const page = await serveJson({ '/v1/models': 'not a list' })
    expect(await ask(page.url, 'm')).toEqual({ why: `${page.url} lists no models` })
    const locked = await serveJson({}, 401)
    expect(await ask(locked.url, 'm')).toEqual({ why: `${locked.url}/models answers with status 401` })
    const bare = await serveJson({ '/v1/models': { data: [{ id: 'm' }] } })
    expect(await ask(bare.url, 'm')).toEqual({ why: `${bare.url} says nothing of m but its name` })
  })

  it('waits for a server that is silent only as long as it is told to', async () => {
    const silent = await serve(() => undefined)
    open.push(silent)
    const answer = await askReported({ baseUrl: silent.url, model: 'm', clock: systemClock, timeout: 20 })
    expect(answer).toEqual({ why: expect.stringContaining('took longer') })
  })

  it('finds what answers, and the names of the keys', async () => {
    const ollama = await serveJson({ '/v1/models': OLLAMA_LIST })
    const page = await serveJson({ '/v1/models': '<html>' })
    const found = await findModels({
      addresses: [ollama.url, page.url, 'http://127.0.0.1:1/v1'],
      environment: name => ({ MISTRAL_API_KEY: 'sk-secret', OPENAI_API_KEY: '' })[name],
      clock: systemClock,
    })
    expect(found).toEqual({
      servers: [{ baseUrl: ollama.url, server: 'ollama', models: ['gemma4'] }],
      keys: ['MISTRAL_API_KEY'],
    })
  })

  it('looks outside of a container too', () => {
    expect(localAddresses({ inContainer: false })).toContain('http://127.0.0.1:11434/v1')
    expect(localAddresses({ inContainer: true })).toContain('http://host.docker.internal:1234/v1')
  })
})
