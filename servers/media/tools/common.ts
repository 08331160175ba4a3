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

/** Which of several, by its name here. */
export const instanceField = z.string().min(1).max(60).optional()

export const titleField = z.string().trim().min(1).max(200)
export const yearField = z.int().min(1870).max(2200).optional()

/** What could not be asked. Of it the result says nothing, instead of "no". */
export const unknownField = z
  .array(z.object({ upstream: z.string(), why: z.string() }))
  .describe('what could not be asked, so that the result knows nothing of it')

export type Unknown = z.output<typeof unknownField>[number]

/** Something asked of one upstream, and what to call that upstream. */
export interface Asked<Value> {
  upstream: string
  ask(): Promise<Value>
}

/**
 * Asks all at once. Those that fail are told in `unknown`; where all fail, the first failure is thrown, and so is the
 * reason of an aborted signal.
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

/** "Sonarr (4k) could not be asked: …" */
export function toUnknownLines(unknown: readonly Unknown[]): string[] {
  return unknown.map(
    ({ upstream, why }) => `${upstream} could not be asked, so nothing is known of it: ${why}.`,
  )
}

/** The failure of a tool none of whose upstreams is configured. */
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

/** A title of others in an output. */
export const titleOutput = foreignText(200)

/** What an answer's text says first and then line by line. */
export function toLines(...lines: (string | undefined | readonly string[])[]): string {
  return lines.flatMap(line => line ?? []).join('\n')
}
