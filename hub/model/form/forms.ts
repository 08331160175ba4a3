import type { ModelEntry } from '../adapter.ts'
import { familyOf } from '../wire/entry.ts'
import type { Form, HistoryForm, ToolForm } from './form.ts'

/** Fields of an entry on which its form depends. */
type Asked = Pick<ModelEntry, 'provider' | 'baseUrl' | 'model' | 'vision'>

/**
 * Mistral fails to compile a JSON schema with `$id` and `$schema`:
 * https://github.com/BerriAI/litellm/pull/13389
 */
const IDENTITY = ['$schema', '$id', '$anchor', '$comment', '$dynamicRef', '$dynamicAnchor', '$vocabulary']

/** Keywords that a small dialect does not know; at best it ignores them. */
const RARE = [
  ...['if', 'then', 'else', 'not', 'dependencies', 'dependentSchemas', 'dependentRequired'],
  ...['patternProperties', 'propertyNames', 'minProperties', 'maxProperties', 'unevaluatedProperties'],
  ...[
    'prefixItems',
    'additionalItems',
    'unevaluatedItems',
    'uniqueItems',
    'contains',
    'minContains',
    'maxContains',
  ],
  ...['multipleOf', 'contentEncoding', 'contentMediaType', 'contentSchema'],
  ...['examples', 'deprecated', 'readOnly', 'writeOnly'],
]

/**
 * References are never sent: some dialects follow only `#/$defs/…` of those that servers write, and
 * Anthropic's not even these.
 */
const TOOLS: ToolForm = {
  most: 128,
  longestDescription: 1024,
  inlineRefs: true,
  without: [...IDENTITY, ...RARE],
  largestRepeat: undefined,
  plainPatterns: false,
  leftOut: [],
}

const HISTORY: HistoryForm = {
  callIds: 'plain',
  bridge: false,
  merge: ['user', 'assistant'],
  startsWithUser: true,
  images: 'none',
  reasoning: 'all',
  foreignCall: 'nothing',
  flat: false,
}

/**
 * OpenAI documents the most tools and the longest description:
 * https://platform.openai.com/docs/guides/function-calling
 */
const OPENAI_TOOLS: ToolForm = { ...TOOLS, without: IDENTITY }

/**
 * Anthropic limits names of arguments (https://github.com/beautyfree/appstore-connect-mcp/issues/2), and
 * takes long descriptions.
 */
const ANTHROPIC_TOOLS: ToolForm = {
  ...TOOLS,
  without: IDENTITY,
  longestDescription: 4096,
  plainArguments: true,
}

/**
 * Google's dialect is OpenAPI's: it needs a type everywhere
 * (https://github.com/danny-avila/LibreChat/issues/6971), and knows only the formats `enum` and `date-time`
 * of texts.
 */
const GOOGLE_TOOLS: ToolForm = { ...TOOLS, without: [...TOOLS.without, 'format'], typed: true }

/** Mistral makes a grammar of the schemas: https://github.com/SylphxAI/pdf-reader-mcp/issues/63 */
const MISTRAL_TOOLS: ToolForm = { ...TOOLS, plainPatterns: true }

/**
 * llama.cpp, and LM Studio and Ollama with it, make one grammar of all tools. They refuse the whole request
 * for one rule: `format` and `propertyNames` (https://github.com/ggml-org/llama.cpp/issues/27580), a pattern
 * below the top, and `maxLength` and `maxItems` that multiply (issues 25746, 26596, 27859). The whole grammar
 * is limited too (issue 25895).
 */
const GRAMMAR_TOOLS: ToolForm = {
  ...TOOLS,
  without: [...TOOLS.without, 'format', 'pattern'],
  largestRepeat: 64,
  plainPatterns: true,
}

/** OpenRouter may hand a request to any of the providers above. */
const OPENROUTER_TOOLS: ToolForm = { ...MISTRAL_TOOLS, plainArguments: true }
const OPENROUTER_GOOGLE_TOOLS: ToolForm = { ...GOOGLE_TOOLS, plainArguments: true }

/**
 * Mistral's own API and the templates of its open models need ids of nine characters (error 3280,
 * https://github.com/editor-code-assistant/eca/issues/233) and refuse a user's message after results (error
 * 3230, https://github.com/NousResearch/hermes-agent/pull/84944).
 */
const MISTRAL: Partial<HistoryForm> = { callIds: 'nine', bridge: true, reasoning: 'none' }

/**
 * These models refuse a call without the reasoning that led to it, and take an empty one: DeepSeek on every
 * message (https://github.com/anomalyco/opencode/issues/24722), Kimi on those with calls
 * (https://github.com/HKUDS/nanobot/pull/2598).
 */
const REASONED: Partial<HistoryForm> = { reasoning: 'all', foreignCall: 'empty-reasoning' }

const isMistral = (model: string) => /(mis|minis|magis|pix|mix)tral|devstral|codestral/i.test(model)
const isGemini = (model: string) => /gemini/i.test(model)
const isReasoned = (model: string) => /deepseek|kimi/i.test(model)

function toForm(asked: Asked, history: Partial<HistoryForm>, tools: ToolForm): Form {
  return { family: familyOf(asked), history: { ...HISTORY, ...history }, tools }
}

/** Builds the form of each provider, by the provider's name. */
export const FORMS = {
  /**
   * The Responses API takes ids of at most 64 characters
   * (https://github.com/experientiallabs/experiential/pull/801), roles in any order, encrypted reasoning with
   * everything that it led to, and pictures in the outputs of functions.
   */
  openai: asked =>
    toForm(asked, { merge: [], startsWithUser: false, images: asked.vision ? 'all' : 'none' }, OPENAI_TOOLS),
  /** Anthropic needs ids of letters, digits, `_` and `-` (same thread), the user first, signed thoughts. */
  anthropic: asked =>
    toForm(asked, { merge: ['user'], images: asked.vision ? 'all' : 'none' }, ANTHROPIC_TOOLS),
  /**
   * Gemini needs calls right after the user or results
   * (https://github.com/google-gemini/gemini-cli/issues/11814). Only Gemini 3 takes pictures in results, so
   * pictures follow the results. The AI SDK's package itself signs the calls of others.
   */
  google: asked => toForm(asked, { images: asked.vision ? 'user' : 'none' }, GOOGLE_TOOLS),
  /** The AI SDK's package writes pictures in results as JSON, so pictures follow the results. */
  mistral: asked => toForm(asked, { ...MISTRAL, images: asked.vision ? 'user' : 'none' }, MISTRAL_TOOLS),
  deepseek: asked => toForm(asked, { ...REASONED, images: asked.vision ? 'user' : 'none' }, TOOLS),
  /** OpenRouter hands most of a request on unchanged, so the model's name tells whose rules apply. */
  openrouter: asked => {
    const images = asked.vision ? 'user' : 'none'
    const { model } = asked
    if (isMistral(model)) return toForm(asked, { ...MISTRAL, images }, OPENROUTER_TOOLS)
    if (isReasoned(model)) return toForm(asked, { ...REASONED, images, callIds: 'any' }, OPENROUTER_TOOLS)
    if (!isGemini(model)) return toForm(asked, { images }, OPENROUTER_TOOLS)
    // Gemini's details name calls by their ids, so the ids stay unchanged.
    return toForm(asked, { images, callIds: 'any', foreignCall: 'gemini-details' }, OPENROUTER_GOOGLE_TOOLS)
  },
  /**
   * Covers local servers and every other with OpenAI's chat completions: some take ids of at most 40
   * characters, as OpenAI itself (https://github.com/vercel/ai/issues/5171). Kimi needs its own ids back.
   */
  compatible: asked => {
    const history: Partial<HistoryForm> = { images: asked.vision ? 'user' : 'none', reasoning: 'calls' }
    const { model } = asked
    if (isMistral(model)) return toForm(asked, { ...history, ...MISTRAL }, GRAMMAR_TOOLS)
    if (isReasoned(model)) return toForm(asked, { ...history, ...REASONED, callIds: 'any' }, GRAMMAR_TOOLS)
    if (!isGemini(model)) return toForm(asked, history, GRAMMAR_TOOLS)
    return toForm(asked, { ...history, foreignCall: 'gemini-placeholder' }, GOOGLE_TOOLS)
  },
} satisfies Record<string, (asked: Asked) => Form>
