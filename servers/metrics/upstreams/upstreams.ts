import type { Clock } from '../../kit/clock.ts'
import { type Environment, SettingsError } from '../../kit/env.ts'
import { readInstances } from '../../kit/instances.ts'
import { createUpstream, type Upstream } from '../../kit/upstream/upstream.ts'
import { alertmanagerSpec, type HttpInstance, nodeExporterSpec, prometheusSpec } from '../config.ts'
import { openAlertmanager } from './alertmanager/alertmanager.ts'
import { openPrometheus } from './prometheus/prometheus.ts'

/**
 * Opens the HTTP upstreams of the environment; no request is sent. Throws SettingsError with the problems of
 * all of them.
 */
export function openUpstreams(environment: Environment, clock: Clock) {
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
    prometheuses: prometheuses.map(one => openPrometheus(openUpstream(one, clock))),
    alertmanagers: alertmanagers.map(one => openAlertmanager(one, openUpstream(one, clock))),
    nodeExporters,
  }
}

/** Opens the HTTP client of an instance. `title` is its name in sentences. */
export function openUpstream(instance: HttpInstance, clock: Clock, title = instance.title): Upstream {
  const { URL: url, TOKEN: token, USERNAME: user, PASSWORD: password = '' } = instance.settings
  const basic = user === undefined ? undefined : Buffer.from(`${user}:${password}`).toString('base64')
  const authorization = token !== undefined ? `Bearer ${token}` : basic && `Basic ${basic}`
  const { URL, TOKEN, PASSWORD } = instance.variables
  return createUpstream({
    name: instance.name,
    title,
    url,
    problem: instance.problem,
    headers: authorization === undefined ? {} : { authorization },
    secrets: [token ?? '', password, basic ?? ''].filter(secret => secret !== ''),
    settings: { url: URL, key: user === undefined ? TOKEN : PASSWORD },
    clock,
  })
}
