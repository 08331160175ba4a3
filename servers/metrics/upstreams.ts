import { accessSetting } from '../kit/access.ts'
import type { Clock } from '../kit/clock.ts'
import { type SettingsTable, textSetting } from '../kit/env.ts'
import type { Instance, InstanceSpec } from '../kit/instances.ts'
import { required, secretSetting, urlSetting } from '../kit/settings.ts'
import { createUpstream, type Upstream } from '../kit/upstream/upstream.ts'

/** Settings of a login, which these programs lack: their web config or a proxy before them may require it. */
const login = {
  TOKEN: secretSetting({ purpose: 'the bearer token, where one is asked for' }),
  USERNAME: textSetting({
    purpose: 'the user, where a password is asked for',
    form: 'a name without a colon',
    pattern: /^[^:\r\n]{1,200}$/,
  }),
  PASSWORD: secretSetting({ purpose: "the user's password" }),
}

export const prometheusSpec = {
  title: 'Prometheus',
  prefix: 'PROMETHEUS',
  settings: {
    URL: required(
      urlSetting({ purpose: 'the address of Prometheus', where: 'the page of Prometheus, port 9090' }),
    ),
    ...login,
  },
} satisfies InstanceSpec<SettingsTable & { URL: ReturnType<typeof required<string | undefined>> }>

export const alertmanagerSpec = {
  title: 'Alertmanager',
  prefix: 'ALERTMANAGER',
  settings: {
    URL: required(
      urlSetting({ purpose: 'the address of Alertmanager', where: 'the page of Alertmanager, port 9093' }),
    ),
    ...login,
    ACCESS: accessSetting(),
  },
} satisfies InstanceSpec<SettingsTable & { URL: ReturnType<typeof required<string | undefined>> }>

export const nodeExporterSpec = {
  title: 'Node-exporter',
  prefix: 'NODE_EXPORTER',
  settings: {
    URL: required(
      urlSetting({
        purpose: "the address of another machine's node-exporter",
        where: 'that machine, port 9100, without /metrics',
      }),
    ),
    ...login,
  },
} satisfies InstanceSpec<SettingsTable & { URL: ReturnType<typeof required<string | undefined>> }>

export type PrometheusInstance = Instance<typeof prometheusSpec.settings>
export type AlertmanagerInstance = Instance<typeof alertmanagerSpec.settings>
export type NodeExporterInstance = Instance<typeof nodeExporterSpec.settings>

/** Opens the HTTP client of an instance. `title` is its name in sentences. */
export function openUpstream(
  instance: PrometheusInstance | AlertmanagerInstance | NodeExporterInstance,
  title: string,
  clock: Clock,
): Upstream {
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

/** Returns "Prometheus", or "Prometheus (nas)" if the instance has a name of its own. */
export function toTitle(title: string, prefix: string, name: string): string {
  return name === prefix.toLowerCase().replaceAll('_', '-') ? title : `${title} (${name})`
}
