import type { ModelTool } from '../../core/model.ts'
import { type Plan, planCall } from './plan.ts'
import { fold } from './words.ts'

/** Questions whether a title is there: "do we have X", "is X on jellyfin". */
const OWNED: readonly RegExp[] = [
  /^(?:do (?:we|i|you) have|have (?:we|i|you) got|got|look up|look for|haben wir|hast du|habe ich|gibt es|est-ce qu(?:e |')(?:on a|nous avons)|(?:on|nous) a(?:vons)?|tenemos|tienes|abbiamo|hai|hebben we|temos)\s+(?<title>.+)$/u,
  /^(?:is|ist|est|esta|e)\s+(?<title>.+?)\s+(?:already )?(?:on|in|available|auf|sur|en|su)\s*(?:on |in )?(?:jellyfin|plex|the library|our library|der mediathek)$/u,
]
/** Requests for a title that may be a film or a series: "request X", "get us X". */
const WANTED: readonly RegExp[] = [
  /^(?:i want to (?:see|watch)|i'd like to (?:see|watch)|(?:get|grab|add|request|order|download) (?:us |me )?)\s*(?<title>.+ \(?(?:19|20)\d\d\)?)$/u,
  /^(?:get|grab|add|request|order|download) (?:us |me )?(?:the )?(?:new |next |latest |first )?(?:seasons?|episodes?) of (?<title>.+)$/u,
  /^(?:get|grab|add|request|download) (?<title>.+?) (?:to (?:radarr|sonarr|jellyfin|jellyseerr|seerr|overseerr|the library)|in (?:4k|hd|uhd|1080p))$/u,
]
const LATER =
  /\s+(?:on jellyfin|on plex|in (?:the|our) library|in jellyfin|somewhere|already|yet|bitte|please)$/u
const KIND = /^(?:the |a |an |der |den |die |das |le |la |el |il )?(?:movie|film|series|show|serie)\s+/u
const MACHINE =
  /(?<!\p{L})(?:containers?|servers?|downloads?|torrents?|players?|space|ram|memory|alerts?|updates?|reminders?|requests?|tasks?|seasons?|backups?|speicher|platz|disks?|cpu|errors?|notifications?|channels?|movies|films|shows|episodes)(?!\p{L})/u

/** Searches for the title that a message asks for; undefined where it asks for none or no tool searches. */
export function planSearch(text: string, tools: readonly ModelTool[]): Plan | undefined {
  const tool = tools.find(({ name }) => name === 'search_media')
  const query = toTitle(text)
  return tool === undefined || query === undefined ? undefined : planCall(tool, { query })
}

function toTitle(text: string): string | undefined {
  const plain = text.normalize('NFC').replace(/[\s?!.]+$/u, '')
  const folded = fold(plain)
  for (const pattern of [...OWNED, ...WANTED]) {
    const found = pattern.exec(folded)
    const said = found?.groups?.['title']
    if (!found || said === undefined) continue
    const from = folded.indexOf(said, found[0].startsWith(said) ? 0 : 1)
    const kind = KIND.exec(said)?.[0]?.length ?? 0
    // A title that the message calls a film or a series can be requested without a search.
    if (WANTED.includes(pattern) && kind > 0) return undefined
    const title = plain.slice(from + kind, from + said.length)
    const bare = title.slice(0, LATER.exec(fold(title))?.index ?? title.length)
    if (bare === '' || MACHINE.test(fold(bare))) return undefined
    return bare.split(',')[0]
  }
  return undefined
}
