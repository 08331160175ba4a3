import { z } from 'zod'
import { askAll, toReason } from '../../kit/ask-all.ts'
import { ToolFailure } from '../../kit/failure.ts'
import { foreignText } from '../../kit/foreign.ts'
import { pickInstance } from '../../kit/instances.ts'
import { cleanText } from '../../kit/text.ts'
import type { Upstream } from '../../kit/upstream/upstream.ts'
import { type Arr, KINDS } from '../upstreams/arr/arr.ts'

export const READ = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }
export const CHANGE = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: false,
}

/** The name of an instance, to choose one of several. */
export const instanceField = z.string().min(1).max(60).optional()

export const typeField = z.enum(['movie', 'show']).optional()
export const titleField = z.string().trim().min(1).max(200)
export const yearField = z.int().min(1870).max(2200).optional()

/** Upstreams that could not be asked. The result states that their part is unknown, instead of "no". */
export const unknownField = z
  .array(z.object({ upstream: z.string(), why: z.string() }))
  .describe('what could not be asked, so that the result knows nothing of it')

export type Unknown = z.output<typeof unknownField>[number]

/** Asks all upstreams, as `askAll` does. */
export async function gather<One extends { upstream: Upstream }, Value>(
  upstreams: readonly One[],
  signal: AbortSignal,
  ask: (one: One) => Promise<Value>,
): Promise<{ found: Value[]; unknown: Unknown[] }> {
  const sources = upstreams.map(one => ({ one, name: one.upstream.title }))
  const { found, failed } = await askAll(sources, ({ one }) => ask(one), signal)
  return {
    found: found.map(({ value }) => value),
    unknown: failed.map(({ source, reason }) => ({ upstream: source, why: cleanText(reason, 300) })),
  }
}

/** Returns why an upstream could not be asked. */
export function toWhy(error: unknown, upstream: string): string {
  return cleanText(toReason(error, upstream), 300)
}

/** Returns lines such as "Sonarr (4k) could not be asked: …". */
export function toUnknownLines(unknown: readonly Unknown[]): string[] {
  return unknown.map(
    ({ upstream, why }) => `${upstream} could not be asked, so nothing is known of it: ${why}.`,
  )
}

/** Creates the failure of a tool of which no program is configured. */
export function toNoneConfigured(titles: readonly string[], what: string): ToolFailure {
  const variables = titles.map(title => `${title.toUpperCase()}_URL`)
  return new ToolFailure({
    what: `${titles.join(' and ')} ${titles.length > 1 ? 'are' : 'is'} not configured here, so ${what}.`,
    where: variables.join(', '),
    why: `none of ${variables.join(', ')} is set`,
    fix: `Ask the owner to set ${variables.map(name => `${name} and ${name.replace(/_URL$/, '_API_KEY')}`).join(', or ')}: the address of each and the key that it shows under its settings (General, API keys).`,
    isUnconfigured: true,
  })
}

/**
 * Returns the Radarrs and Sonarrs for films or series, or the one of this name. Throws a ToolFailure if there
 * is none; `otherwise` continues "so ".
 */
export function pickArrs(
  arrs: readonly Arr[],
  { type, instance }: { type?: 'movie' | 'show' | undefined; instance?: string | undefined },
  otherwise: string,
): Arr[] {
  if (arrs.length === 0) throw toNoneConfigured(['Radarr', 'Sonarr'], otherwise)
  const fitting = arrs.filter(({ kind }) => type === undefined || KINDS[kind].type === type)
  if (instance === undefined && fitting.length > 0) return fitting
  const kind = type === 'show' || (type === undefined && arrs[0]?.kind === 'sonarr') ? 'sonarr' : 'radarr'
  return [pickInstance(fitting, instance, KINDS[kind].spec)]
}

/** A title that others wrote, in an output. */
export const titleOutput = foreignText(200)
