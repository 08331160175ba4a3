import type { z } from 'zod'
import type { Upstream } from '../../../kit/upstream/upstream.ts'
import { alertsAnswer, buildAnswer, queryAnswer } from './answers.ts'

/** Milliseconds; a limit longer than Prometheus' own limit of a query would be no use. */
const QUERY_LIMIT = 25_000

/** A query for one moment, or for a span with a step. All unix milliseconds or milliseconds. */
export type PrometheusQuery =
  | { kind: 'instant'; query: string; at: number }
  | { kind: 'range'; query: string; from: number; to: number; step: number }

export type RuleAlert = z.output<typeof alertsAnswer>['data']['alerts'][number]

export type Prometheus = ReturnType<typeof openPrometheus>

/** Opens one Prometheus, or another program with its API. Every call fails with UpstreamFailure. */
export function openPrometheus(upstream: Upstream) {
  const { name, title, address } = upstream
  return {
    name,
    title,
    address,
    query: (asked: PrometheusQuery, signal?: AbortSignal) =>
      // The query is sent as a form, since a long one does not fit into a URL. It only reads.
      upstream.send('POST', asked.kind === 'instant' ? '/api/v1/query' : '/api/v1/query_range', {
        schema: queryAnswer,
        body: { form: toForm(asked) },
        read: true,
        limit: QUERY_LIMIT,
        signal,
      }),
    /** Returns the alerts of its own rules: pending and firing. */
    async alerts(signal?: AbortSignal) {
      const { data } = await upstream.get('/api/v1/alerts', { schema: alertsAnswer, signal })
      return data.alerts.filter(alert => alert.state !== 'inactive')
    },
    version: async () =>
      (await upstream.get('/api/v1/status/buildinfo', { schema: buildAnswer })).data.version,
  }
}

function toForm(asked: PrometheusQuery): Record<string, string> {
  const seconds = (milliseconds: number) => String(milliseconds / 1000)
  switch (asked.kind) {
    case 'instant':
      return { query: asked.query, time: seconds(asked.at) }
    case 'range':
      return {
        query: asked.query,
        start: seconds(asked.from),
        end: seconds(asked.to),
        step: seconds(asked.step),
      }
    default:
      return asked satisfies never
  }
}
