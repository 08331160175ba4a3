import { createHash } from 'node:crypto'
import { type Alert, alertmanagerBody, arrBody, jellyfinBody } from '../../../schemas/webhooks.ts'
import { toCanonicalJson } from '../../core/json.ts'
import { boundPayload } from './bound-payload.ts'

/** One event of a delivery, with the fields by which a repeat is recognized. */
export interface MappedEvent {
  key: string
  payload: Record<string, unknown>
  subject: string
  state: string
  /** Milliseconds for which the same subject and state are a repeat. */
  within: number
}

/** Milliseconds within which senders that got no answer try again. */
const RETRIED_WITHIN_MS = 2 * 60_000
/**
 * Milliseconds for which an alert of a group is a repeat. Alertmanager sends a whole group again whenever one
 * of its alerts changes (`group_interval`), which is no news of the others. An alert that comes again later
 * follows its `repeat_interval`, by which people ask to be reminded.
 */
const GROUP_WITHIN_MS = 30 * 60_000
const LONGEST_KEY = 500
/** Alerts that are taken of one delivery: no house has so many at once, and each becomes an event. */
const MOST_ALERTS = 500

type Mapper = (fields: Record<string, unknown>) => readonly Partial<MappedEvent>[] | undefined

/** The hooks whose bodies are known; a body that does not fit is taken like that of any other hook. */
const MAPPERS: Readonly<Record<string, Mapper>> = {
  alertmanager(fields) {
    const { data } = alertmanagerBody.safeParse(fields)
    if (!data) return undefined
    const { alerts, ...rest } = fields
    const cut = data.alerts.length - MOST_ALERTS
    // `truncatedAlerts` is Alertmanager's own name for the number that its `max_alerts` leaves out.
    const told = cut > 0 ? { ...rest, truncatedAlerts: cut + toCount(rest['truncatedAlerts']) } : rest
    const about = boundPayload(told)
    return data.alerts
      .slice(0, MOST_ALERTS)
      .map((alert, index) => mapAlert(about, (alerts as unknown[])[index], alert))
  },
  radarr: mapArr,
  sonarr: mapArr,
  jellyfin(fields) {
    const { data } = jellyfinBody.safeParse(fields)
    return data && [{ key: toKey(data.NotificationType, data.ItemId) }]
  },
}

/** Returns the events of a delivery, one or several. `fields` are its body's, `bytes` the body as it came. */
export function mapHook(name: string, fields: Record<string, unknown>, bytes: Buffer): MappedEvent[] {
  const mapper = Object.hasOwn(MAPPERS, name) ? MAPPERS[name] : undefined
  const mapped = mapper?.(fields) ?? [{}]
  return mapped.map(one => {
    const payload = boundPayload(one.payload ?? fields)
    return {
      key: one.key ?? shorten(toCanonicalJson(payload)),
      payload,
      subject: one.subject ?? digest(bytes),
      state: one.state ?? 'sent',
      within: one.within ?? RETRIED_WITHIN_MS,
    }
  })
}

/** Returns the event of an alert; its payload is what Alertmanager would send with this alert alone. */
function mapAlert(about: Record<string, unknown>, own: unknown, alert: Alert): Partial<MappedEvent> {
  const { status, labels, startsAt = '' } = alert
  const fingerprint = alert.fingerprint ?? digest(toCanonicalJson(labels)).slice(0, 16)
  return {
    key: toKey(fingerprint, status),
    payload: { ...about, status, alerts: [own] },
    subject: digest(fingerprint),
    state: digest(`${status} ${startsAt}`),
    within: GROUP_WITHIN_MS,
  }
}

function toCount(value: unknown): number {
  return typeof value === 'number' ? value : 0
}

function mapArr(fields: Record<string, unknown>): readonly Partial<MappedEvent>[] | undefined {
  const { data } = arrBody.safeParse(fields)
  if (!data) return undefined
  const { eventType, movie, series, episodes = [], type } = data
  const ids = [...(movie ? [movie.id] : []), ...(series ? [series.id] : []), ...episodes.map(({ id }) => id)]
  return [{ key: toKey(eventType, ids.length > 0 ? ids.join(',') : type) }]
}

function toKey(what: string, which: string | undefined): string {
  return shorten(which ? `${what}:${which}` : what)
}

function shorten(key: string): string {
  return key.length <= LONGEST_KEY ? key : `sha256:${digest(key)}`
}

export function digest(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex')
}
