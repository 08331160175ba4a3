import { parseJson } from '../../core/json.ts'
import type { BatchItem } from '../../core/model.ts'
import { truncate } from '../../core/text.ts'
import { findTool, hiddenTool, type KnownTool } from './catalogue.ts'
import type { OpenItem } from './cycle.ts'
import { decideMessage } from './decide-message.ts'
import { type Plan, planCall, type Scene, say } from './plan.ts'
import { isRecord } from './questions.ts'
import { toReadable } from './readable.ts'
import { wordResult } from './results.ts'
import { decideLook } from './search-plan.ts'
import { isQuestion } from './spoken.ts'
import { toSentence } from './words.ts'

const LONGEST_NEWS = 1500

/** What the built-in servers' events mean; others are told by their name. */
const MEANINGS: Record<string, string> = {
  cpu_high: 'the processor has been very busy for a while',
  memory_high: 'memory is running out',
  disk_high: 'a disk is getting full',
  temp_high: 'something is too hot',
  server_empty: 'the last player left a game server',
  player_joined: 'a player joined',
  player_left: 'a player left',
  server_crash: 'a game server crashed',
  download_complete: 'a download is complete',
  download_failed: 'a download failed',
  disk_full_warning: 'there is too little space for the downloads',
  transcode_started: 'a stream is being transcoded',
  media_added: 'something new is in the library',
  container_unhealthy: 'a container is unhealthy',
}
const METRICS = 'get_system_metrics'
const LOOKED_AT = /^(?:cpu|memory|disk|temp)_(?:high|full)/

/** What an item leads to next, by what it is. `looks`: this one looks at the system for all events of the batch. */
export function decideItem(open: OpenItem, scene: Scene, looks: boolean): Plan {
  const { item } = open
  switch (item.kind) {
    case 'message':
      return decideMessage(open, scene)
    case 'wake':
      return decideWake(open, scene)
    case 'event':
      return decideEvent(open, scene, looks)
    case 'agent':
      return decideAgent(open, scene)
    case 'task':
    case 'approval':
    case 'notice':
      return say(toNews(item, scene))
    default:
      return item.kind satisfies never
  }
}

/** An event whose cause the system's figures can show. */
export function isLevelEvent(item: BatchItem): boolean {
  return item.kind === 'event' && LOOKED_AT.test(toType(item) ?? '')
}

function decideWake(open: OpenItem, scene: Scene): Plan {
  const reason = open.item.text.replace(/^\s*(?:reason|wake|reminder)\s*:\s*/i, '').trim()
  const [first = '', ...others] = reason.split('\n')
  const more = others.map(line => toDetails(line, scene)).filter(line => line !== '')
  const lead = `Reminder: ${truncate([withEnd(first || 'it is time'), ...more].join('\n'), LONGEST_NEWS)}`
  return withLook(lead, decideLook(toSentence(first), scene, open.outcomes))
}

function decideAgent(open: OpenItem, scene: Scene): Plan {
  const text = toSentence(open.item.text)
  const asks =
    isQuestion(text) || /\?\s*$|^\W*(?:please )?(?:check|look|report|show|list|get|find|read)\b/i.test(text)
  return withLook(toNews(open.item, scene), asks ? decideLook(text, scene, open.outcomes) : undefined)
}

function decideEvent(open: OpenItem, scene: Scene, looks: boolean): Plan {
  const type = toType(open.item)
  const meaning = type !== undefined && Object.hasOwn(MEANINGS, type) ? MEANINGS[type] : undefined
  const origin = open.item.origin.replace(/\s*\([^()]*\)$/, '') || 'an event'
  const details = toDetails(withoutStart(open.item.text.trim(), type ?? ''), scene)
  const gap = details.startsWith('- ') ? '\n' : ' '
  const lead = `${capital(origin)}${meaning ? `: ${meaning}` : ''}.${gap}${details}`.trim()
  const [seen] = open.outcomes
  if (seen) return say(seen.isError ? lead : `${lead}\n\n${wordResult(seen, scene.timezone)}`)
  const metrics = looks ? findMetrics(scene) : undefined
  return metrics ? planCall(metrics, {}) : say(lead)
}

/** The tool that shows the system's figures; one behind `find_tools` is simply tried. */
function findMetrics({ catalogue }: Scene): KnownTool | undefined {
  const known = findTool(catalogue, METRICS) ?? (catalogue.lean ? hiddenTool(METRICS) : undefined)
  return known?.fields.some(field => field.required) ? undefined : known
}

/** The news first, then what was looked up for it. */
function withLook(lead: string, look: Plan | undefined): Plan {
  if (look?.kind === 'call') return look
  return say(look?.kind === 'say' ? `${lead}\n\n${look.text}` : lead)
}

function toType(item: BatchItem): string | undefined {
  const named = /\bevent\s+[`"']?([\w.-]+)/i.exec(item.origin)?.[1]
  if (named !== undefined) return named
  return Object.keys(MEANINGS).find(type => `${item.origin} ${item.text}`.includes(type))
}

/** Text as it is; a JSON object at its end becomes words. */
function toDetails(text: string, scene: Scene): string {
  const trimmed = text.trim()
  const [, before = trimmed, json = ''] = /^([^{]*)(\{.*\})$/s.exec(trimmed) ?? []
  const data = parseJson(json)
  if (!isRecord(data)) return truncate(trimmed, LONGEST_NEWS)
  const lines = toReadable(data, scene.timezone).split('\n')
  const isFlat = lines.length <= 8 && lines.every(line => line.startsWith('- '))
  if (!isFlat) return `${before}\n${lines.join('\n')}`.trim()
  const words = lines.map(line => line.slice(2)).join('; ')
  return before.trim() === '' ? `${capital(words)}.` : `${before.trim()}: ${words}.`
}

function withoutStart(text: string, start: string): string {
  return text.startsWith(start) ? text.slice(start.length).trim() : text
}

function toNews(item: BatchItem, scene: Scene): string {
  const text = toDetails(item.text, scene)
  return item.origin === '' ? text || 'A notice without text came in.' : `From ${item.origin}: ${text}`
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function withEnd(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`
}
