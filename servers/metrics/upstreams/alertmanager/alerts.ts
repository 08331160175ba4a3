import { askAll, type FailedSource } from '../../../kit/ask-all.ts'
import type { Prometheus, RuleAlert } from '../prometheus/prometheus.ts'
import type { Alertmanager, ManagedAlert, Silence } from './alertmanager.ts'

/** An alert of Alertmanager or Prometheus. Names, labels and texts are foreign text. */
export interface Alert {
  readonly name: string
  /** `pending`: its condition holds, not yet for long enough. `inhibited`: another alert suppresses it. */
  readonly state: 'firing' | 'pending' | 'silenced' | 'inhibited'
  /** Unix milliseconds. */
  readonly since: number
  readonly labels: Readonly<Record<string, string>>
  readonly summary: string | undefined
  /** The instance that reported it. */
  readonly source: string
  readonly silences: readonly Silence[]
}

/** All alerts, and the instances that could not be asked. */
export interface Alerts {
  readonly alerts: readonly Alert[]
  readonly failed: readonly FailedSource[]
}

/**
 * Collects the alerts of all Alertmanagers, and those of Prometheus' own rules that none of them has. Rejects
 * with the first failure if no instance answered.
 */
export async function collectAlerts(
  sources: { alertmanagers: readonly Alertmanager[]; prometheuses: readonly Prometheus[] },
  signal: AbortSignal,
): Promise<Alerts> {
  const { alertmanagers, prometheuses } = sources
  const { found, failed } = await askAll<Alertmanager | Prometheus, Alert[]>(
    [...alertmanagers, ...prometheuses],
    async one => {
      if (!('silences' in one)) return (await one.alerts(signal)).map(alert => fromRule(alert, one.name))
      const [alerts, silences] = await Promise.all([one.alerts(signal), one.silences(signal)])
      return alerts.map(alert => fromManager(alert, silences, one.name))
    },
    signal,
  )
  const managed = found.flatMap(({ source, value }) => ('silences' in source ? value : []))
  const own = found.flatMap(({ source, value }) => ('silences' in source ? [] : value))
  const alerts = [...managed, ...own.filter(alert => !managed.some(other => isSame(alert, other)))]
  alerts.sort((a, b) => URGENCY[a.state] - URGENCY[b.state] || a.since - b.since)
  return { alerts, failed }
}

function fromManager(alert: ManagedAlert, silences: readonly Silence[], source: string): Alert {
  const { silencedBy, inhibitedBy } = alert.status
  const state = silencedBy.length > 0 ? 'silenced' : inhibitedBy.length > 0 ? 'inhibited' : 'firing'
  return {
    ...toCommon(alert),
    state,
    since: alert.startsAt,
    source,
    silences: silences.filter(({ id }) => silencedBy.includes(id)),
  }
}

function fromRule(alert: RuleAlert, source: string): Alert {
  const state = alert.state === 'pending' ? 'pending' : 'firing'
  return { ...toCommon(alert), state, since: alert.activeAt, source, silences: [] }
}

function toCommon({ labels, annotations }: Pick<ManagedAlert, 'labels' | 'annotations'>) {
  const summary = annotations['summary'] ?? annotations['description'] ?? annotations['message']
  return { name: labels['alertname'] ?? 'an alert without a name', labels, summary }
}

/**
 * Tells whether a rule's alert is that of an Alertmanager, which has all its labels, and perhaps external
 * ones besides.
 */
function isSame(own: Alert, managed: Alert): boolean {
  return Object.entries(own.labels).every(([label, value]) => managed.labels[label] === value)
}

const URGENCY = { firing: 0, pending: 1, silenced: 2, inhibited: 3 } as const
