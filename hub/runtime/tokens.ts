import type { HistoryContent } from '../../schemas/inbox.ts'
import type { ModelTool } from '../core/model.ts'
import { readPicture } from '../core/picture.ts'
import type { HistoryEntry } from '../store/history.ts'

/** Estimates tokens, rather too high: the larger of a fourth of the bytes and the words and digits. */
export function estimateTokens(text: string): number {
  return Math.ceil(Math.max(Buffer.byteLength(text) / 4, countWords(text)))
}

/** Counts runs of letters, single digits and single signs; everything beyond ASCII counts as a letter. */
function countWords(text: string): number {
  let words = 0
  let inWord = false
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    const isLetter = (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code > 127
    if (isLetter ? !inWord : code > 32) words++
    inWord = isLetter
  }
  return words
}

/** Tokens of a picture of 1568 pixels, to which providers scale a larger one. */
export const MOST_PICTURE_TOKENS = 1_600
/** Source: https://docs.claude.com/en/docs/build-with-claude/vision; others count about as many, or fewer. */
const PIXELS_PER_TOKEN = 750

function tokensOfPicture({ data }: { data: string }): number {
  const { width, height } = readPicture(data)?.size ?? { width: Infinity, height: 1 }
  return Math.min(MOST_PICTURE_TOKENS, Math.ceil((width * height) / PIXELS_PER_TOKEN))
}

const counted = new WeakMap<HistoryContent, number>()

/** Returns the tokens of one entry of a window, counted once. */
export function tokensOf(content: HistoryContent): number {
  const known = counted.get(content)
  if (known !== undefined) return known
  const tokens = countTokens(content)
  counted.set(content, tokens)
  return tokens
}

function countTokens(content: HistoryContent): number {
  if (content.role !== 'assistant') {
    const pictures = (content.images ?? []).reduce((sum, image) => sum + tokensOfPicture(image), 0)
    return estimateTokens(content.text) + pictures + 4
  }
  const calls = content.calls.map(call => call.name + call.arguments).join('')
  return estimateTokens(content.text + calls + (content.thinking?.text ?? '')) + 4
}

export function tokensOfAll(entries: readonly HistoryEntry[]): number {
  return entries.reduce((sum, entry) => sum + tokensOf(entry.content), 0)
}

/** The part of a request that precedes the window. */
export interface Preamble {
  system: string
  tools: readonly ModelTool[]
}

const preambles = new WeakMap<readonly ModelTool[], { system: string; tokens: number }>()

/** Returns the preamble's tokens, counted once for each list of tools: a changed list is another one. */
export function tokensOfPreamble({ system, tools }: Preamble): number {
  const known = preambles.get(tools)
  if (known?.system === system) return known.tokens
  const tokens = estimateTokens(system) + estimateTokens(JSON.stringify(tools))
  preambles.set(tools, { system, tokens })
  return tokens
}

/** The provider's own count of a request and its reply, up to an entry of the window. */
export interface Anchor {
  tokens: number
  seq: number
}

export function toAnchor(tokens: number | undefined, seq: number): Anchor | undefined {
  return tokens === undefined ? undefined : { tokens, seq }
}

const LEAST_FACTOR = 0.8
const MOST_FACTOR = 2.5
/** The part of the gap to the newest count by which the factor moves. */
const PACE = 0.3
/** The ratios of count and estimate beyond which a provider counts something else. */
const BELIEVABLE = 0.4
const BEYOND_BELIEF = 4

/**
 * Counts the tokens of requests. The provider's own count of the last step is the anchor; only what came
 * after it is estimated, times a factor learned for each model.
 */
export interface TokenCounter {
  /** Estimates the tokens of a text that stands alone. */
  estimate(model: string, text: string): number
  /** Returns the tokens of the next request. */
  count(
    model: string,
    preamble: Preamble,
    window: readonly HistoryEntry[],
    anchor: Anchor | undefined,
  ): number
  /**
   * Learns from a step's usage. Returns the tokens of the request and its reply; undefined if the count is
   * not to be believed.
   */
  learn(model: string, step: CountedStep): number | undefined
  /** Factors that were learned, by the model's name. */
  readonly factors: ReadonlyMap<string, number>
  /** Takes factors from before a restart, for models of which nothing was learned since. */
  restore(factors: ReadonlyMap<string, number>): void
}

export interface CountedStep {
  preamble: Preamble
  /** The window that the request held. */
  window: readonly HistoryEntry[]
  usage: { input: number; output: number }
}

export function createTokenCounter(): TokenCounter {
  const factors = new Map<string, number>()
  const clamp = (factor: number) => Math.min(MOST_FACTOR, Math.max(LEAST_FACTOR, factor))
  const factorOf = (model: string) => factors.get(model) ?? 1
  return {
    estimate: (model, text) => Math.ceil(estimateTokens(text) * factorOf(model)),
    count(model, preamble, window, anchor) {
      if (!anchor) return Math.ceil((tokensOfPreamble(preamble) + tokensOfAll(window)) * factorOf(model))
      const tail = window.filter(entry => entry.seq > anchor.seq)
      return anchor.tokens + Math.ceil(tokensOfAll(tail) * factorOf(model))
    },
    learn(model, { preamble, window, usage }) {
      const estimate = tokensOfPreamble(preamble) + tokensOfAll(window)
      const ratio = usage.input / estimate
      if (!(ratio >= BELIEVABLE && ratio <= BEYOND_BELIEF)) return undefined
      const next = factorOf(model) + (ratio - factorOf(model)) * PACE
      factors.set(model, clamp(next))
      return usage.input + usage.output
    },
    factors,
    restore(saved) {
      for (const [model, factor] of saved) if (!factors.has(model)) factors.set(model, clamp(factor))
    },
  }
}
