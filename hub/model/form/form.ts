import type { ModelMessage, ModelTool, UserMessage } from '../../core/model.ts'
import type { ModelEntry } from '../adapter.ts'
import { toShownUrl } from '../ask-json.ts'

/**
 * Describes, as data, how a provider wants history and tools. `shapeRequest` reads it and is pure; an adapter
 * only writes what it is given in its wire format. A repair changes some of its fields.
 */
export interface Form {
  /** Family whose reasoning and opaque parts go back: `<provider>/<model> at <address>`, as `Thinking.by`. */
  family: string
  history: HistoryForm
  tools: ToolForm
}

export interface HistoryForm {
  /**
   * Form of calls' ids: unchanged, at most 40 letters, digits, `_` and `-`, or nine letters and digits
   * (Mistral).
   */
  callIds: 'any' | 'plain' | 'nine'
  /** True where an assistant's message has to stand between tool results and a user's message. */
  bridge: boolean
  /** Roles whose neighbouring messages become one. */
  merge: readonly ('user' | 'assistant')[]
  /** True where the first message after the prompt has to be a user's. */
  startsWithUser: boolean
  /** Place of pictures: nowhere (a line of text says what was there), users' messages, or results too. */
  images: 'none' | 'user' | 'all'
  /** Assistant messages of the same family that get their reasoning back: none, those with calls, or all. */
  reasoning: 'none' | 'calls' | 'all'
  /**
   * Stand-in for the missing reasoning of a call that another family made, as the provider documents it: a
   * signature in `extras` (`gemini-placeholder`) or in `parts` (`gemini-details`, OpenRouter's
   * `reasoning_details`), or a thought without text (`empty-reasoning`; with `reasoning: 'all'` on messages
   * without calls too).
   */
  foreignCall: 'nothing' | 'gemini-placeholder' | 'gemini-details' | 'empty-reasoning'
  /** True after the last repair: calls and results are sent as text. */
  flat: boolean
}

export interface ToolForm {
  /** Most tools that are sent, the most needed first. */
  most: number
  /** Characters of a description; a longer one is cut, with a pointer to `find_tools`. */
  longestDescription: number
  /** Keywords of JSON Schema that are left out at any depth. */
  without: readonly string[]
  /** Largest `maxLength`, `maxItems` and the like that are kept: a grammar repeats its rule so often. */
  largestRepeat: number | undefined
  /**
   * True where patterns and names of properties are dropped that need a grammar with lookaround, groups or
   * classes.
   */
  plainPatterns: boolean
  /** True where every schema has to name one type, with nothing but a description beside `anyOf` (Gemini). */
  typed?: boolean
  /** True where arguments whose names are not of [A-Za-z0-9_.-]{1,64} go into the description (Anthropic). */
  plainArguments?: boolean
  /** Tools that a repair leaves out, by the hub's names. */
  leftOut: readonly string[]
}

export interface ShapedRequest {
  system: string
  messages: ModelMessage[]
  tools: ModelTool[]
  /** Maps the name of each tool as it was sent to the hub's name. */
  names: ReadonlyMap<string, string>
  maxOutput: number
}

/**
 * Mistral fails to compile a JSON schema with `$id` and `$schema`:
 * https://github.com/BerriAI/litellm/pull/13389
 */
export const IDENTITY = [
  '$schema',
  '$id',
  '$anchor',
  '$comment',
  '$dynamicRef',
  '$dynamicAnchor',
  '$vocabulary',
]

/** Keywords that a small dialect does not know; at best it ignores them. */
const RARE =
  'if then else not dependencies dependentSchemas dependentRequired patternProperties propertyNames minProperties maxProperties unevaluatedProperties prefixItems additionalItems unevaluatedItems uniqueItems contains minContains maxContains multipleOf contentEncoding contentMediaType contentSchema examples deprecated readOnly writeOnly'.split(
    ' ',
  )

/**
 * References are never sent: some dialects follow only `#/$defs/…` of those that servers write, and
 * Anthropic's not even these.
 */
export const TOOLS: ToolForm = {
  most: 128,
  longestDescription: 1024,
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
  images: 'user',
  reasoning: 'all',
  foreignCall: 'nothing',
  flat: false,
}

/** Fields of an entry on which its form depends. */
export type FormEntry = Pick<ModelEntry, 'provider' | 'baseUrl' | 'model' | 'vision'>

/** Returns a form; pictures stand where `history` says, if the model sees any. */
export function toForm(entry: FormEntry, history: Partial<HistoryForm>, tools: ToolForm): Form {
  const images = entry.vision ? (history.images ?? HISTORY.images) : 'none'
  return { family: familyOf(entry), history: { ...HISTORY, ...history, images }, tools }
}

export function userMessage(text: string, images?: UserMessage['images']): UserMessage {
  return { role: 'user', text, items: [], ...(images && images.length > 0 && { images }) }
}

/**
 * Returns the family of an entry's reasoning and opaque parts. They go back only to the address that they
 * came from: another one with a model of that name cannot read the signatures, and must not see the thoughts.
 */
export function familyOf({ provider, model, baseUrl }: Pick<ModelEntry, 'provider' | 'model' | 'baseUrl'>) {
  return `${provider}/${model} at ${toShownUrl(baseUrl)}`
}
