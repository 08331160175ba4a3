import type { ModelMessage, ModelTool } from '../../core/model.ts'

/**
 * How a provider wants history and tools, as data. `shapeRequest` reads it and is pure; an adapter only writes what it
 * is given in its wire format. A repair is a change of some of its fields.
 */
export interface Form {
  /** Whose reasoning and opaque parts may go back: `<provider>/<model>`, as `Thinking.by`. */
  family: string
  history: HistoryForm
  tools: ToolForm
}

export interface HistoryForm {
  /** The ids of calls: as they are, at most 40 letters, digits, `_` and `-`, or nine letters and digits (Mistral). */
  callIds: 'any' | 'plain' | 'nine'
  /** An assistant's message has to stand between the results of tools and a user's message. */
  bridge: boolean
  /** Neighbouring messages of one role become one. */
  merge: readonly ('user' | 'assistant')[]
  /** The first message after the prompt has to be a user's. */
  startsWithUser: boolean
  /** Where pictures may stand: nowhere (a line of text says what was there), in users' messages, or in results too. */
  images: 'none' | 'user' | 'all'
  /** Which of the family's own assistant messages get their reasoning back. */
  reasoning: 'none' | 'calls' | 'all'
  /**
   * What stands for the missing reasoning of a call that another family made, as the provider documents it: a signature
   * in `extras` (`gemini-placeholder`) or in `parts` (`gemini-details`, OpenRouter's `reasoning_details`), or a thought
   * without text (`empty-reasoning`; with `reasoning: 'all'` on messages without calls too).
   */
  foreignCall: 'nothing' | 'gemini-placeholder' | 'gemini-details' | 'empty-reasoning'
  /** The last repair: calls and results are told as text. */
  flat: boolean
}

export interface ToolForm {
  /** At most so many are sent, the most needed first. */
  most: number
  /** A longer description is cut, with a pointer to `find_tools`; characters. */
  longestDescription: number
  /** `$ref` is replaced by what it names. */
  inlineRefs: boolean
  /** Keywords of JSON Schema that are left out at any depth. */
  without: readonly string[]
  /** Largest `maxLength`, `maxItems` and their like that are kept: a grammar repeats its rule so often. */
  largestRepeat: number | undefined
  /** Patterns and names of properties are kept only where a grammar without lookaround, groups and classes can express them. */
  plainPatterns: boolean
  /** Every schema names one type, and nothing but a description stands beside `anyOf` (Gemini). */
  typed?: boolean
  /** Arguments whose names are not of [A-Za-z0-9_.-]{1,64} are told in the description alone (Anthropic). */
  plainArguments?: boolean
  /** Tools that a repair leaves out, by their own names. */
  leftOut: readonly string[]
}

/** A request in the form that one provider accepts. */
export interface ShapedRequest {
  system: string
  messages: ModelMessage[]
  tools: ModelTool[]
  /** The hub's name of each tool by the name that was sent. */
  names: ReadonlyMap<string, string>
  /** Most tokens that the reply may have. */
  maxOutput: number
}
