import type { ModelTool } from '../../core/model.ts'
import { type Plan, planCall } from './plan.ts'
import { meaningsOf, toWords } from './words.ts'

/** A question whether a film or series is there, whose words name no tool. */
const OWNED =
  /^(?:do (?:we|i|you) have|have (?:we|i|you) got|look up|haben wir|hast du|gibt es|est-ce qu(?:e |')(?:on a|nous avons)|tenemos|tienes|abbiamo|hebben we|temos)\s+(?<kind>(?:\p{L}+\s+)?(?:movie|film|series|show|serie)\s+)?(?<title>[^,]+?)(?:,.*|\s+(?:on jellyfin|already|yet))?[\s?!.]*$/iu
/** A wish for a title that may be a film or a series. */
const WANTED =
  /^(?:get|grab|add|request|download) (?:us |me )?(?:the )?(?:(?:new |next |latest )?(?:season|episode)s? of )?(?<title>.+ \(?(?:19|20)\d\d\)?|(?<=(?:season|episode)s? of ).+|.+(?= to (?:radarr|sonarr|jellyfin|seerr|the library)| in (?:4k|hd|1080p)))/iu

/** Searches for the title that a message asks for; undefined where it asks for none or no tool searches. */
export function planSearch(text: string, tools: readonly ModelTool[]): Plan | undefined {
  const tool = tools.find(({ name }) => name === 'search_media')
  const { kind, title } = (OWNED.exec(text) ?? WANTED.exec(text))?.groups ?? {}
  if (!tool || title === undefined) return undefined
  // "Do we have any alerts?" asks for something that a tool knows.
  const isTitle = kind !== undefined || toWords(title).every(word => meaningsOf(word).length === 0)
  return isTitle ? planCall(tool, { query: title }) : undefined
}
