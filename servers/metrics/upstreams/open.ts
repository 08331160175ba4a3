import type { Clock } from '../../kit/clock.ts'
import { type Environment, SettingsError } from '../../kit/env.ts'
import { readInstances } from '../../kit/instances.ts'
import {
  alertmanagerSpec,
  type NodeExporterInstance,
  nodeExporterSpec,
  prometheusSpec,
} from '../upstreams.ts'
import { type Alertmanager, openAlertmanager } from './alertmanager/alertmanager.ts'
import { openPrometheus, type Prometheus } from './prometheus/prometheus.ts'

/** The HTTP upstreams of the environment; no request has been sent. */
export interface Upstreams {
  readonly prometheuses: readonly Prometheus[]
  readonly alertmanagers: readonly Alertmanager[]
  readonly nodeExporters: readonly NodeExporterInstance[]
}

/** Opens the upstreams. Throws SettingsError with the problems of all of them. */
export function openUpstreams(environment: Environment, clock: Clock): Upstreams {
  const problems: string[] = []
  const collect = <Instances>(read: () => Instances[]): Instances[] => {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof SettingsError)) throw error
      problems.push(error.message)
      return []
    }
  }
  const prometheuses = collect(() => readInstances(prometheusSpec, environment))
  const alertmanagers = collect(() => readInstances(alertmanagerSpec, environment))
  const nodeExporters = collect(() => readInstances(nodeExporterSpec, environment))
  if (problems.length > 0) throw new SettingsError(problems)
  return {
    prometheuses: prometheuses.map(instance => openPrometheus(instance, clock)),
    alertmanagers: alertmanagers.map(instance => openAlertmanager(instance, clock)),
    nodeExporters,
  }
}
