import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { startProgram } from '../../support/program.ts'
import { makeTempFolder } from '../../support/temp-store.ts'
import { until } from '../../support/until.ts'

/** The address to which Alertmanager sends its notifications. */
export interface Receiver {
  url: string
  secret: string
}

/**
 * Starts Debian's Alertmanager on loopback, which notifies a receiver of every change within about a second.
 */
export async function startAlertmanager({ url, secret }: Receiver) {
  await using stack = new AsyncDisposableStack()
  const folder = stack.use(makeTempFolder()).path
  const config = join(folder, 'alertmanager.yml')
  writeFileSync(
    config,
    `route: { receiver: hub, group_by: [alertname], group_wait: 100ms, group_interval: 1s, repeat_interval: 1h }
receivers:
  - name: hub
    webhook_configs:
      - url: ${url}
        http_config: { authorization: { credentials: ${secret} } }
`,
  )
  const address = await startDaemon(stack, 'prometheus-alertmanager', [
    `--config.file=${config}`,
    `--storage.path=${join(folder, 'data')}`,
    '--cluster.listen-address=',
  ])
  const whole = stack.move()
  return {
    address,
    /** Sends alerts to its API; one with `endsAt` in the past is resolved. */
    async post(...alerts: { labels: Record<string, string>; endsAt?: string }[]): Promise<void> {
      const response = await fetch(`http://${address}/api/v2/alerts`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(alerts),
      })
      if (!response.ok) throw new Error(`Alertmanager: ${response.status} ${await response.text()}`)
    },
    [Symbol.asyncDispose]: () => whole.disposeAsync(),
  }
}

/**
 * Starts Debian's Prometheus, which reads one target every half second and notifies an Alertmanager when it
 * is down.
 */
export async function startPrometheus(target: string, alertmanager: string): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack()
  const folder = stack.use(makeTempFolder()).path
  mkdirSync(join(folder, 'data'))
  const config = join(folder, 'prometheus.yml')
  writeFileSync(
    config,
    `global: { scrape_interval: 500ms, evaluation_interval: 500ms }
rule_files: [rules.yml]
scrape_configs: [{ job_name: nas, static_configs: [{ targets: ["${target}"] }] }]
alerting: { alertmanagers: [{ static_configs: [{ targets: ["${alertmanager}"] }] }] }
`,
  )
  const rule =
    '{ alert: InstanceDown, expr: "up == 0", labels: { severity: page }, annotations: { summary: "{{ $labels.instance }} is down" } }'
  writeFileSync(join(folder, 'rules.yml'), `groups: [{ name: up, rules: [${rule}] }]\n`)
  await startDaemon(stack, 'prometheus', [
    `--config.file=${config}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
  ])
  const whole = stack.move()
  return { [Symbol.asyncDispose]: () => whole.disposeAsync() }
}

/** Starts one of the two programs, which ends with the stack; resolves with its address once it is ready. */
async function startDaemon(stack: AsyncDisposableStack, program: string, args: string[]): Promise<string> {
  const address = `127.0.0.1:${await freePort()}`
  const { PATH } = process.env
  const running = stack.use(
    await startProgram(program, [...args, `--web.listen-address=${address}`], { base: { PATH } }),
  )
  await until(`${program} is ready`, async () => {
    if (running.child.exitCode !== null) throw new Error(`${program} ended:\n${running.stderr}`)
    try {
      return (await fetch(`http://${address}/-/ready`)).ok
    } catch (error) {
      if (error instanceof TypeError) return false
      throw error
    }
  })
  return address
}

/** Returns a free port. */
export async function freePort(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>()
  const server = createServer().listen(0, '127.0.0.1', () => {
    const address = server.address()
    server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
  })
  return promise
}
