import type { Clock } from '../core/clock.ts'
import type { Price } from '../core/model.ts'
import type { ModelEntry } from './adapter.ts'
import { type KnownModel, knownModel } from './known-models.ts'
import { askReported, type LocalServer, type Reported, type ReportedOptions } from './reported.ts'

/** What the configuration says of a model; what is missing there is asked for. */
export interface WrittenSizes {
  context?: number | undefined
  maxOutput?: number | undefined
  price?: Price | undefined
  vision?: boolean | undefined
}

export type SizeSource = 'config' | 'provider' | 'table' | 'default'

export interface Sizes {
  context: number
  maxOutput: number
  price: Price | undefined
  vision: boolean
  /** Where each of them comes from. */
  from: Record<'context' | 'maxOutput' | 'price' | 'vision', SizeSource>
}

/** Nearly all models of these take pictures. */
const SEEING = ['openai', 'anthropic', 'google']

/** A hub that starts waits at most so long for each of a provider's answers, milliseconds. */
const LOOK_UP_MS = 1_000

const DEFAULT_CONTEXT = 32_768
const DEFAULT_OUTPUT = 4_096

/** What the configuration says, else the provider, else the table, else what suits most models. */
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
  // A reply seldom needs all that a model could write, and what is reserved for it is taken from the window.
  const most = reported.maxOutput ?? known?.maxOutput ?? DEFAULT_OUTPUT
  const maxOutput = written.maxOutput ?? Math.min(DEFAULT_OUTPUT, Math.floor(tokens / 4), most)
  return {
    context: tokens,
    maxOutput,
    price: price.value,
    vision: vision.value ?? SEEING.includes(written.provider ?? ''),
    from: {
      context: context.from,
      maxOutput: written.maxOutput === undefined ? 'default' : 'config',
      price: price.from,
      vision: vision.from,
    },
  }
}

/** A model with all that is known of it. */
export interface LookedUpModel {
  sizes: Sizes
  reported: Reported | undefined
  server: LocalServer | undefined
  /** Why its provider says nothing of it. */
  why: string | undefined
}

/** Asks a model's provider for what the configuration leaves open. Never throws. */
export async function lookUp(written: WrittenSizes & ReportedOptions): Promise<LookedUpModel> {
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

type WrittenEntry = Omit<ModelEntry, 'context' | 'maxOutput' | 'vision'> & WrittenSizes

/** A configured model with every size filled in. A provider that does not answer leaves the table and the defaults. */
export interface SizedEntry {
  readonly entry: ModelEntry
  /**
   * The provider answered a request: it is asked again for what it did not say before, as a local server that has
   * loaded the model since. Resolves to true where the sizes are others now. Never throws.
   */
  askAgain(): Promise<boolean>
}

/** So often a provider that answers requests is asked again: some never say it. */
const MOST_QUESTIONS = 5

export async function openSizedEntry(written: WrittenEntry, clock: Clock): Promise<SizedEntry> {
  const wanted = written.context === undefined ? 'context' : 'vision'
  const ask = async () => {
    // The timeout of an entry is for answers: a list comes at once or not at all.
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
    get entry() {
      return found.entry
    },
    async askAgain() {
      if (!found.isOpen || questions === MOST_QUESTIONS) return false
      questions++
      const { entry, isOpen } = await ask()
      const isSame = JSON.stringify(entry) === JSON.stringify(found.entry)
      found = { entry: isSame ? found.entry : entry, isOpen }
      return !isSame
    },
  }
}
