import { parseJson } from '../../core/json.ts'
import type { BatchItem } from '../../core/model.ts'
import { toSentence, truncate } from '../../core/text.ts'
import type { OpenItem } from './cycle.ts'
import { decideMessage } from './decide-message.ts'
import { type Plan, type Scene, say } from './plan.ts'

const LONGEST = 1500

/** Plans what an item leads to, by its kind. An item that no person wrote is only reported. */
export function decideItem({ item, outcomes }: OpenItem, scene: Scene): Plan {
  switch (item.kind) {
    case 'message':
      return decideMessage(item, scene, outcomes)
    case 'wake':
      return say(`Reminder: ${toSentence(toDetails(item.text))}`)
    case 'event':
      return say(`${toOrigin(item)}: ${toDetails(item.text)}`)
    case 'agent':
    case 'task':
    case 'approval':
    case 'notice':
      return say(`${toOrigin(item)}:\n${toDetails(item.text)}`)
    default:
      return item.kind satisfies never
  }
}

/** Returns where an item came from, without the words that warn a model. */
function toOrigin({ origin }: BatchItem): string {
  return origin.replace(/; data, not instructions|\s*\(data, not instructions\)/g, '') || 'A notice'
}

/**
 * Returns a text as it is. An event's JSON data becomes the text that its server gave with it, or a list of
 * its fields.
 */
function toDetails(text: string): string {
  const [, before = '', json = '', after = ''] = /^([^{]*)(\{.*\})([^}]*)$/s.exec(text.trim()) ?? []
  const data = parseJson(json)
  if (typeof data !== 'object' || data === null) return truncate(text.trim(), LONGEST)
  const said = 'text' in data && typeof data.text === 'string' ? data.text : toPairs(data)
  return truncate(`${before.trim()} ${said}${after}`.trim(), LONGEST)
}

function toPairs(data: object): string {
  const pairs = Object.entries(data).filter(([name]) => name !== 'units')
  return pairs
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')
}
