import { cleanText, toCountText, toTimeText } from '../../kit/text.ts'
import { type Outgoing, SEVERITIES } from '../message.ts'
import { type Hold, type Row, toPicture } from './row.ts'

const MAX_LINE = 300
const REASONS = {
  quiet: 'held during quiet hours',
  rate: "held by this channel's limit",
  upstream: 'held because too many were sent',
} as const satisfies Record<Hold, string>

/**
 * Returns the message to send for one batch: a single row as it is, several rows as a list. Throws if there
 * is none.
 */
export function toOutgoing(rows: readonly Row[], timezone: string, isDoubtful: boolean): Outgoing {
  const [first] = rows
  if (first === undefined) throw new Error('A batch has at least one message.')
  const words = rows.length === 1 ? toOne(first, timezone) : toMany(rows, first, timezone)
  return {
    id: first.batch ?? first.id,
    ...words,
    severity: SEVERITIES.findLast(one => rows.some(row => row.severity === one)) ?? first.severity,
    picture: rows.map(toPicture).find(picture => picture !== undefined),
    // Nobody could tell which message of a list a button belongs to.
    buttons: rows.length === 1 ? first.buttons : [],
    at: first.created_at,
    triedAt: first.tried_at ?? undefined,
    isDoubtful,
  }
}

function toOne(row: Row, timezone: string) {
  const late =
    row.hold === null ? '' : `\n\n(From ${toTimeText(row.created_at, timezone)}, ${REASONS[row.hold]}.)`
  return { title: row.title ?? undefined, text: `${row.text}${late}` }
}

function toMany(rows: readonly Row[], first: Row, timezone: string) {
  const why = first.hold === null ? '' : `, ${REASONS[first.hold]}`
  const lines = rows.map(row => {
    const title = row.title === null ? '' : `**${cleanText(row.title, 100)}**: `
    const mark = row.severity === 'info' ? '' : `[${row.severity}] `
    return `- ${toTimeText(row.created_at, timezone)}: ${mark}${title}${cleanText(row.text, MAX_LINE)}`
  })
  return { title: `${toCountText(rows.length, 'notification')}${why}`, text: lines.join('\n') }
}

/** Returns notes on what a list of several messages lost. */
export function toDigestNotes(rows: readonly Row[]): string[] {
  if (rows.length === 1) return []
  const pictures = rows.filter(row => toPicture(row) !== undefined).length
  const lost = pictures > 1 ? [`without ${toCountText(pictures - 1, 'image')}`] : []
  return [`in one message with ${toCountText(rows.length - 1, 'other')}`, ...lost]
}
