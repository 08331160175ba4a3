import type { Clock } from '../../core/clock.ts'
import {
  type Model,
  ModelError,
  type ModelOptions,
  type ModelQuirk,
  type ModelReply,
  type ModelRequest,
} from '../../core/model.ts'
import type { Adapter, ModelEntry, Provider } from '../adapter.ts'
import { shapeRequest } from '../form/shape-request.ts'
import { decideRepair, findSuspects, type Guess, splitSuspects } from './decide-repair.ts'
import {
  applyRepairs,
  createQuirks,
  describeRepair,
  type Quirk,
  type QuirkStore,
  type Repair,
} from './repairs.ts'

export interface RepairingOptions {
  clock: Clock
  quirks: QuirkStore
  /** Most times that a refused request is changed and sent again; default 5. */
  mostRepairs?: number
}

const MOST_REPAIRS = 5

/**
 * Creates a configured model. It shapes each request for its provider. When the provider refuses one, it
 * changes one thing, asks again, and remembers what helped. It opens nothing until it is asked, and owns
 * nothing between calls but idle connections.
 */
export function createRepairingModel(
  provider: Provider,
  entry: ModelEntry,
  options: RepairingOptions,
): Model {
  const { clock, mostRepairs = MOST_REPAIRS } = options
  const quirks = createQuirks(`${entry.provider} ${entry.baseUrl} ${entry.model}`, options.quirks, clock.now)
  const form = provider.form(entry)
  const { optional: sent = [], temperature = 'temperature' } = provider
  // Models that reason take no temperature, so a repair may leave it out.
  const optional = entry.temperature === undefined ? sent : [...sent, temperature]
  let opened: Promise<Adapter> | undefined

  function shape(request: ModelRequest, repairs: readonly Repair[]) {
    const applied = applyRepairs(form, repairs)
    return { shaped: shapeRequest(request, applied.form), without: applied.without }
  }

  async function ask(
    request: ModelRequest,
    repairs: readonly Repair[],
    asked: ModelOptions,
  ): Promise<ModelReply> {
    opened ??= provider.open({ ...entry, apiKey: entry.apiKey?.trim() }, clock)
    const { shaped, without } = shape(request, repairs)
    // An id is unlike any other in the window: a later request has a later time or more messages.
    const makeId = (position: number) =>
      `call_${request.now.toString(36)}_${request.messages.length}_${position}`
    const reply = await (await opened)(shaped, { ...asked, without, makeId })
    return {
      ...reply,
      calls: reply.calls.map(call => ({ ...call, name: shaped.names.get(call.name) ?? call.name })),
    }
  }

  async function complete(request: ModelRequest, asked: ModelOptions): Promise<ModelReply> {
    const known = (await quirks.current()).map(({ repair }) => repair)
    const offered = request.tools.map(({ name }) => name)
    let suspects = findSuspects(known, offered)
    let repairs = known.filter(one => one !== suspects)
    let guess: { before: readonly Repair[]; error: ModelError } | undefined
    const guesses: Guess[] = []
    for (let tries = 0; ; tries++) {
      const outcome = await ask(request, repairs, asked).catch(toRefused)
      if (!('refusal' in outcome)) {
        if (!isEqual(repairs, known)) await quirks.keep(repairs)
        return outcome
      }
      const { error, refusal } = outcome
      if (tries === mostRepairs) throw error
      if (suspects) {
        repairs = splitSuspects(known, suspects)
        suspects = undefined
        continue
      }
      // A guess that changed nothing is taken back.
      const before = guess && isEqual(guess.error.refusal, error.refusal) ? guess.before : repairs
      const next = decideRepair({
        refusal,
        repairs: before,
        request: shape(request, before).shaped,
        guesses,
        optional,
      })
      if (!next) throw error
      if (next.guess) guesses.push(next.guess)
      guess = next.guess && { before, error }
      repairs = next.repairs
    }
  }

  return {
    name: entry.model,
    context: entry.context,
    maxOutput: entry.maxOutput,
    sees: entry.vision,
    ...(entry.price ? { price: entry.price } : {}),
    quirks: () => quirks.known.map(quirk => toModelQuirk(entry.model, quirk)),
    complete,
  }
}

function toModelQuirk(model: string, { repair, since }: Quirk): ModelQuirk {
  const tools = repair.kind === 'tools' ? { tools: repair.names } : {}
  return { model, what: describeRepair(repair), since, ...tools }
}

/** Returns a refusal that a change may repair; throws every other error. */
function toRefused(error: unknown) {
  if (!(error instanceof ModelError) || error.kind !== 'rejected' || error.begun) throw error
  const { refusal } = error
  if (refusal?.status !== 400 && refusal?.status !== 422) throw error
  return { error, refusal }
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
