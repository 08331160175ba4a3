import { z } from 'zod'
import { toFailure } from './failure.ts'

/** The output field of a tool that asks several upstreams: those that did not answer. */
export const failedField = (about: string) =>
  z.array(z.object({ source: z.string(), reason: z.string() })).describe(about)

/** An upstream that did not answer. */
export interface FailedSource {
  source: string
  reason: string
}

/** The answers in the order of the upstreams, and the upstreams that did not answer. */
export interface Answers<Source, Value> {
  readonly found: readonly { source: Source; value: Value }[]
  readonly failed: readonly FailedSource[]
}

/**
 * Asks all upstreams at once. Rejects with the first failure if none answered, and with the signal's reason.
 */
export async function askAll<Source extends { readonly name: string }, Value>(
  sources: readonly Source[],
  ask: (source: Source) => Promise<Value>,
  signal: AbortSignal,
): Promise<Answers<Source, Value>> {
  const found: { source: Source; value: Value }[] = []
  const failed: { source: string; error: unknown }[] = []
  const outcomes = await Promise.allSettled(
    sources.map(async source => ({ source, value: await ask(source) })),
  )
  signal.throwIfAborted()
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome.status === 'fulfilled') found.push(outcome.value)
    else failed.push({ source: sources[index]?.name ?? '', error: outcome.reason })
  }
  const [first] = failed
  if (first && found.length === 0) throw first.error
  return { found, failed: failed.map(({ source, error }) => ({ source, reason: toReason(error, source) })) }
}

/** Returns what failed and why, in one line. */
export function toReason(error: unknown, where: string): string {
  const { what, why } = toFailure(error, where)
  return `${what} ${why}`
}

/** Returns the lines about the upstreams that did not answer, for a result's text. */
export function toFailedLines(failed: readonly FailedSource[]): string[] {
  return failed.map(({ source, reason }) => `Not asked: ${source}. ${reason}`)
}
