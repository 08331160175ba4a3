import { z } from 'zod'
import { type Access, requireAccess } from '../../../kit/access.ts'
import { toIsoTime } from '../../../kit/clock.ts'
import type { Upstream } from '../../../kit/upstream/upstream.ts'
import type { AlertmanagerInstance } from '../../config.ts'
import { moment } from '../prometheus/answers.ts'

const labels = z.record(z.string(), z.string())

/** https://github.com/prometheus/alertmanager/blob/main/api/v2/openapi.yaml */
const alertsAnswer = z.array(
  z.object({
    labels,
    annotations: labels.default({}),
    startsAt: moment,
    status: z.object({
      state: z.enum(['active', 'suppressed', 'unprocessed']),
      silencedBy: z.array(z.string()).default([]),
      inhibitedBy: z.array(z.string()).default([]),
    }),
  }),
)

const silence = z.object({
  id: z.string(),
  status: z.object({ state: z.enum(['active', 'pending', 'expired']) }),
  matchers: z.array(
    z.object({
      name: z.string(),
      value: z.string(),
      isRegex: z.boolean(),
      isEqual: z.boolean().default(true),
    }),
  ),
  startsAt: moment,
  endsAt: moment,
  createdBy: z.string(),
  comment: z.string(),
})

export type ManagedAlert = z.output<typeof alertsAnswer>[number]
export type Silence = z.output<typeof silence>

/**
 * A silence to create: its alerts' labels (all must be equal), its times (unix milliseconds) and its reason.
 */
export interface NewSilence {
  readonly labels: Readonly<Record<string, string>>
  readonly from: number
  readonly to: number
  readonly comment: string
}

export type Alertmanager = ReturnType<typeof openAlertmanager>

/** Opens one Alertmanager. Every call fails with UpstreamFailure. */
export function openAlertmanager(instance: AlertmanagerInstance, upstream: Upstream) {
  const { name, title, address } = upstream
  return {
    name,
    title,
    address,
    /** Throws a ToolFailure if its settings do not allow this access. */
    require: (access: Access) => requireAccess(instance, access),
    alerts: (signal?: AbortSignal) => upstream.get('/api/v2/alerts', { schema: alertsAnswer, signal }),
    silences: (signal?: AbortSignal) =>
      upstream.get('/api/v2/silences', { schema: z.array(silence), signal }),
    /** Creates a silence and returns its id. A second call creates another one. */
    async silence(wanted: NewSilence, signal?: AbortSignal): Promise<string> {
      const matchers = Object.entries(wanted.labels).map(([label, value]) => {
        return { name: label, value, isRegex: false, isEqual: true }
      })
      const json = {
        matchers,
        startsAt: toIsoTime(wanted.from),
        endsAt: toIsoTime(wanted.to),
        createdBy: 'superbloom',
        comment: wanted.comment,
      }
      const schema = z.object({ silenceID: z.string().min(1) })
      return (await upstream.send('POST', '/api/v2/silences', { schema, body: { json }, signal })).silenceID
    },
    expire: (id: string, signal?: AbortSignal) =>
      upstream.send('DELETE', `/api/v2/silence/${encodeURIComponent(id)}`, { signal }),
    async version() {
      const schema = z.object({ versionInfo: z.object({ version: z.string() }) })
      return (await upstream.get('/api/v2/status', { schema })).versionInfo.version
    },
  }
}
