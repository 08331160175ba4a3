import { z } from 'zod'
import { ToolFailure, toFailure } from '../../kit/failure.ts'
import { foreignText } from '../../kit/foreign.ts'
import { cleanText } from '../../kit/text.ts'

export const READ = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }
export const CHANGE = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: false,
}

/** The name of an instance, to choose one of several. */
export const instanceField = z.string().min(1).max(60).optional()

export const titleField = z.string().trim().min(1).max(200)
export const yearField = z.int().min(1870).max(2200).optional()

/** Upstreams that could not be asked. The result states that their part is unknown, instead of "no". */
export const unknownField = z
  .array(z.object({ upstream: z.string(), why: z.string() }))
  .describe('what could not be asked, so that the result knows nothing of it')

export type Unknown = z.output<typeof unknownField>[number]

/** A question to one upstream, and the upstream's name. */
export interface Asked<Value> {
  upstream: string
  ask(): Promise<Value>
}

/**
 * Asks all in parallel and lists those that fail in `unknown`. If all fail, it throws the first failure; it
 * also throws the reason of an aborted signal.
 */
export async function gather<Value>(
  asked: readonly Asked<Value>[],
  signal: AbortSignal,
): Promise<{ found: Value[]; unknown: Unknown[] }> {
  const settled = await Promise.allSettled(asked.map(one => one.ask()))
  signal.throwIfAborted()
  const found = settled.flatMap(one => (one.status === 'fulfilled' ? [one.value] : []))
  const failed = settled.flatMap((one, index) =>
    one.status === 'rejected'
      ? [{ upstream: asked[index]?.upstream ?? '', error: one.reason as unknown }]
      : [],
  )
  const [first] = failed
  if (first && found.length === 0) throw first.error
  return { found, unknown: failed.map(({ upstream, error }) => toUnknown(upstream, error)) }
}

export function toUnknown(upstream: string, error: unknown): Unknown {
  const { what, why } = toFailure(error, upstream)
  return { upstream, why: cleanText(`${what} ${why}`, 300) }
}

/** Returns lines such as "Sonarr (4k) could not be asked: …". */
export function toUnknownLines(unknown: readonly Unknown[]): string[] {
  return unknown.map(
    ({ upstream, why }) => `${upstream} could not be asked, so nothing is known of it: ${why}.`,
  )
}

/** Creates the failure of a tool without any configured upstream. */
export function toNoneConfigured(
  titles: readonly string[],
  variables: readonly string[],
  what: string,
): ToolFailure {
  return new ToolFailure({
    what: `${titles.join(' and ')} ${titles.length > 1 ? 'are' : 'is'} not configured here, so ${what}.`,
    where: variables.join(', '),
    why: `none of ${variables.join(', ')} is set`,
    fix: `Ask the owner to set ${variables.map(name => `${name} and ${name.replace(/_URL$/, '_API_KEY')}`).join(', or ')}: the address of each and the key that it shows under its settings (General, API keys).`,
  })
}

/** A title that others wrote, in an output. */
export const titleOutput = foreignText(200)

/** Joins an answer's first line and the lines after it. */
export function toLines(...lines: (string | undefined | readonly string[])[]): string {
  return lines.flatMap(line => line ?? []).join('\n')
}
