import { providerOf } from '../../schemas/providers.ts'
import type { Clock } from '../core/clock.ts'
import type { ModelConfig, Price } from '../core/model.ts'
import type { ModelEntry } from './adapter.ts'
import { type KnownModel, knownModel } from './known-models.ts'
import type { Reported } from './local-servers.ts'
import { askReported, type ReportedOptions } from './reported.ts'

/** Sizes that the configuration gives a model; the provider is asked for missing ones. */
type WrittenSizes = Pick<ModelConfig, 'context' | 'maxOutput' | 'price' | 'vision'>

export type SizeSource = 'config' | 'provider' | 'table' | 'default'

export interface Sizes {
  context: number
  maxOutput: number
  price: Price | undefined
  vision: boolean
  /** Source of each size. */
  from: Record<'context' | 'maxOutput' | 'price' | 'vision', SizeSource>
}

/** Milliseconds that a starting hub waits at most for each of a provider's answers. */
const LOOK_UP_MS = 1_000

const DEFAULT_CONTEXT = 32_768
const DEFAULT_OUTPUT = 4_096

/** Takes each size from the configuration, else the provider, else the table, else a usual default. */
export function decideSizes(
  written: WrittenSizes & { provider?: string | undefined },
  reported: Reported = {},
  known?: KnownModel,
): Sizes {
  const pick = <Key extends keyof WrittenSizes>(
    key: Key,
  ): { value?: WrittenSizes[Key]; from: SizeSource } => {
    if (written[key] !== undefined) return { value: written[key], from: 'config' }
    if (reported[key] !== undefined) return { value: reported[key], from: 'provider' }
    if (known) return { value: known[key], from: 'table' }
    return { from: 'default' }
  }
  const [context, price, vision] = [pick('context'), pick('price'), pick('vision')]
  const tokens = context.value ?? Math.min(DEFAULT_CONTEXT, reported.longest ?? DEFAULT_CONTEXT)
  // A reply seldom needs all that a model could write, and what is reserved for it is lost to the window.
  const most = reported.maxOutput ?? known?.maxOutput ?? DEFAULT_OUTPUT
  const maxOutput = written.maxOutput ?? Math.min(DEFAULT_OUTPUT, Math.floor(tokens / 4), most)
  return {
    context: tokens,
    maxOutput,
    price: price.value,
    vision: vision.value ?? providerOf(written.provider)?.sees === true,
    from: {
      context: context.from,
      maxOutput: written.maxOutput === undefined ? 'default' : 'config',
      price: price.from,
      vision: vision.from,
    },
  }
}

export type LookedUpModel = Awaited<ReturnType<typeof lookUp>>

/**
 * Asks a model's provider for what the configuration leaves open; `why` tells why it reports nothing about the
 * model. Never throws.
 */
export async function lookUp(written: WrittenSizes & ReportedOptions) {
  const answer = await askReported(written)
  const { reported, server } = 'why' in answer ? {} : answer
  const known = written.provider === undefined ? undefined : knownModel(written.provider, written.model)
  return {
    sizes: decideSizes(written, reported, known),
    reported,
    server,
    why: 'why' in answer ? answer.why : undefined,
  }
}

/** Most times that a provider which answers requests is asked again: some never report the size. */
const MOST_QUESTIONS = 5

/** Opens a configured model with all sizes, from the table or defaults where the provider does not answer. */
export async function openSizedEntry(written: ModelConfig, clock: Clock) {
  const wanted = written.context === undefined ? 'context' : 'vision'
  const ask = async () => {
    // The entry's timeout is for replies. A list comes at once or not at all, so it gets less time.
    const { sizes } =
      written[wanted] === undefined
        ? await lookUp({ ...written, timeout: LOOK_UP_MS, clock })
        : { sizes: decideSizes(written) }
    const { from, ...filled } = sizes
    return { entry: { ...written, ...filled }, isOpen: from[wanted] === 'default' }
  }
  let found = await ask()
  let questions = 0
  return {
    get entry(): ModelEntry {
      return found.entry
    },
    /**
     * Asks the provider, which has answered a request, for what it did not report before: a local server may
     * have loaded the model since. Resolves to true where the sizes changed. Never throws.
     */
    async askAgain(): Promise<boolean> {
      if (!found.isOpen || questions === MOST_QUESTIONS) return false
      questions++
      const { entry, isOpen } = await ask()
      const isSame = JSON.stringify(entry) === JSON.stringify(found.entry)
      found = { entry: isSame ? found.entry : entry, isOpen }
      return !isSame
    },
  }
}
