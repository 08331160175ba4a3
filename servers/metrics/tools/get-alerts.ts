import { z } from 'zod'
import { failedField, toFailedLines } from '../../kit/ask-all.ts'
import type { Clock } from '../../kit/clock.ts'
import { foreignText } from '../../kit/foreign.ts'
import { toUnconfigured } from '../../kit/instances.ts'
import { page, pageFields, pageOutput, toMoreText } from '../../kit/page.ts'
import { known, toFacts } from '../../kit/render.ts'
import { quote, toAgeText, toTimeText } from '../../kit/text.ts'
import { type DataOf, defineTool, type Tool } from '../../kit/tool.ts'
import { alertmanagerSpec, prometheusSpec } from '../config.ts'
import type { Alertmanager } from '../upstreams/alertmanager/alertmanager.ts'
import { type Alert, collectAlerts } from '../upstreams/alertmanager/alerts.ts'
import type { Prometheus } from '../upstreams/prometheus/prometheus.ts'

const STATES = ['firing', 'pending', 'silenced', 'inhibited'] as const

const output = z.object({
  alerts: z.array(
    z.object({
      name: foreignText(),
      state: z.enum(STATES),
      since: z.number().describe('unix milliseconds'),
      severity: foreignText(60).optional(),
      summary: foreignText(500).optional(),
      labels: z.record(foreignText(), foreignText()),
      source: z.string().describe('the Alertmanager or Prometheus that told it'),
      silences: z.array(
        z.object({
          id: z.string().describe('for expire_silence'),
          until: z.number().describe('unix milliseconds'),
          by: foreignText(100),
          comment: foreignText(500),
        }),
      ),
    }),
  ),
  counts: z.object({ firing: z.int(), pending: z.int(), silenced: z.int(), inhibited: z.int() }),
  failed: failedField('who could not be asked: their alerts are missing'),
  ...pageOutput,
})
type Data = DataOf<typeof output>

/** `get_alerts`: lists alerts that fire, are silenced, or are about to fire. */
export function getAlerts(deps: {
  alertmanagers: readonly Alertmanager[]
  prometheuses: readonly Prometheus[]
  clock: Clock
}): Tool {
  return defineTool({
    name: 'get_alerts',
    title: 'Alerts',
    description:
      'Alerts of Alertmanager and Prometheus: which fire, since when and why, which are silenced or about ' +
      'to fire. Call it when asked what is wrong, or before silence_alert.',
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    input: z.strictObject({
      state: z.enum(STATES).optional(),
      name: z.string().min(1).max(200).optional().describe('a part of the name'),
      ...pageFields(30, 200),
    }),
    output,
    async run({ state, name, ...paging }, signal) {
      if (deps.alertmanagers.length + deps.prometheuses.length === 0) throw toUnconfigured(toEitherSpec())
      const found = await collectAlerts(deps, signal)
      const wanted = found.alerts.filter(
        alert =>
          (state === undefined || alert.state === state) &&
          (name === undefined || alert.name.toLowerCase().includes(name.toLowerCase())),
      )
      const part = page(wanted, paging)
      const counts = toCounts(found.alerts)
      const { items, ...rest } = part
      return {
        data: { alerts: items.map(toShown), counts, failed: found.failed, ...rest },
        text: [
          toHead(counts),
          items.map(alert => toLine(alert, deps.clock.now())),
          toMoreText(part, 'alert'),
          toFailedLines(found.failed),
        ],
        untrusted: items.length > 0,
      }
    },
  })
}

/** Describes a missing setting for which either of the two programs is enough. */
function toEitherSpec() {
  const { title, prefix, settings } = alertmanagerSpec
  const either = `the address of Alertmanager, or set ${prometheusSpec.prefix}_URL for the alerts of Prometheus alone`
  return { title, prefix, settings: { ...settings, URL: { ...settings.URL, purpose: either } } }
}

function toShown({ silences, ...alert }: Alert): Data['alerts'][number] {
  return {
    ...alert,
    severity: alert.labels['severity'],
    silences: silences.map(({ id, endsAt, createdBy, comment }) => {
      return { id, until: endsAt, by: createdBy, comment }
    }),
  }
}

function toCounts(alerts: readonly Alert[]): Data['counts'] {
  const count = (state: Alert['state']) => alerts.filter(alert => alert.state === state).length
  return {
    firing: count('firing'),
    pending: count('pending'),
    silenced: count('silenced'),
    inhibited: count('inhibited'),
  }
}

function toHead({ firing, pending, silenced, inhibited }: Data['counts']): string {
  const facts = [
    firing === 1 ? '1 alert fires' : `${firing === 0 ? 'No' : firing} alerts fire`,
    pending > 0 && `${pending} ${pending === 1 ? 'is' : 'are'} about to fire`,
    silenced > 0 && `${silenced} ${silenced === 1 ? 'is' : 'are'} silenced`,
    inhibited > 0 && `for ${inhibited} another alert stands`,
  ]
  return `${toFacts(facts)}.`
}

function toLine({ name, state, since, summary, silences, labels: all }: Alert, now: number): string {
  const { alertname: _, severity, ...others } = all
  const labels = Object.entries(others).map(([label, value]) => `${label}=${value}`)
  const facts = toFacts([state, known(severity, text => quote(text, 60)), `began ${toAgeText(since, now)}`])
  const where = labels.length > 0 && ` (${quote(labels.join(', '), 300)})`
  const hidden = silences.map(
    ({ id, endsAt, createdBy, comment }) =>
      `; silenced until ${toTimeText(endsAt)} by ${quote(createdBy, 100)}, ${quote(comment, 200)}, silence "${id}"`,
  )
  return toFacts(
    [`- ${quote(name)} ${facts}`, known(summary, text => `: ${quote(text, 500)}`), where, ...hidden],
    '',
  )
}
