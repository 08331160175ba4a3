import type { HubStatus } from '../../../schemas/hub-status.ts'
import type { Clock } from '../../core/clock.ts'
import type { Signals } from '../../core/signals.ts'
import { addCounted, type Counted, type DescribeTool } from './counted.ts'
import { Registry } from './prom-client.ts'
import { addRead } from './read.ts'

/** The hub's figures for Prometheus. Nothing runs between scrapes. */
export interface Metrics extends Counted {
  readonly contentType: string
  /** Returns all figures in Prometheus' text format. */
  text(): Promise<string>
}

export interface MetricsDeps {
  clock: Pick<Clock, 'now'>
  signals: Signals
  describeTool: DescribeTool
  status: () => Promise<HubStatus>
}

export function createMetrics({ clock, signals, describeTool, status }: MetricsDeps): Metrics {
  const registry = new Registry()
  const counted = addCounted([registry], signals, describeTool)
  const show = addRead(registry)
  return {
    ...counted,
    contentType: registry.contentType,
    async text() {
      show({ status: await status(), now: clock.now() })
      return registry.metrics()
    },
  }
}
