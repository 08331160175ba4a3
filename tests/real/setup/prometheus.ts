import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Program, startProgram } from '../../support/program.ts'
import { until } from '../../support/until.ts'
import { freePort } from './scratch.ts'

/** Debian's Prometheus, Alertmanager and node-exporter, connected to each other. */
export interface PrometheusLab extends AsyncDisposable {
  readonly prometheus: string
  readonly alertmanager: string
  readonly nodeExporter: string
  /** Stops the node-exporter, so that the alert TargetDown of job "node" fires. */
  stopNodeExporter(): Promise<void>
  /** Starts the node-exporter again at the same address. */
  startNodeExporter(): Promise<void>
}

const PROMETHEUS = (nodeExporter: string, alertmanager: string) => `
global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: [rules.yml]
alerting: { alertmanagers: [{ static_configs: [{ targets: ["${alertmanager}"] }] }] }
scrape_configs:
  - { job_name: node, static_configs: [{ targets: ["${nodeExporter}"] }] }
`
const RULES = `
groups:
  - name: lab
    rules:
      - { alert: TargetDown, expr: up == 0, for: 0s, labels: { severity: critical }, annotations: { summary: "{{ $labels.job }} is down" } }
      - { alert: Slow, expr: vector(1), for: 1h, labels: { severity: info } }
`
const ALERTMANAGER = `
route: { receiver: nobody, group_wait: 1s }
receivers: [{ name: nobody }]
`

/** Starts all three and waits until they answer; Prometheus reads its targets about five seconds later. */
export async function startPrometheusLab(): Promise<PrometheusLab> {
  const folder = mkdtempSync(join(tmpdir(), 'prometheus-'))
  const prometheus = await freeAddress()
  const alertmanager = await freeAddress()
  const nodeExporter = await freeAddress()
  writeFileSync(join(folder, 'prometheus.yml'), PROMETHEUS(nodeExporter, alertmanager))
  writeFileSync(join(folder, 'rules.yml'), RULES)
  writeFileSync(join(folder, 'alertmanager.yml'), ALERTMANAGER)
  await using opened = new AsyncDisposableStack()
  opened.defer(() => rmSync(folder, { recursive: true, force: true }))
  let keeper: AsyncDisposableStack = opened
  const start = async (command: string, ...args: string[]) => keeper.use(await startProgram(command, args))

  let exporter: Program | undefined
  const startNodeExporter = async () => {
    exporter = await start('prometheus-node-exporter', `--web.listen-address=${nodeExporter}`)
    await answers(exporter, `http://${nodeExporter}/metrics`)
  }
  const manager = await start(
    'prometheus-alertmanager',
    `--config.file=${join(folder, 'alertmanager.yml')}`,
    `--storage.path=${join(folder, 'alertmanager')}`,
    `--web.listen-address=${alertmanager}`,
    '--cluster.listen-address=',
  )
  const server = await start(
    'prometheus',
    `--config.file=${join(folder, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(folder, 'tsdb')}`,
    `--web.listen-address=${prometheus}`,
  )
  await startNodeExporter()
  await answers(manager, `http://${alertmanager}/-/ready`)
  await answers(server, `http://${prometheus}/-/ready`)
  const owned = opened.move()
  keeper = owned
  return {
    prometheus: `http://${prometheus}`,
    alertmanager: `http://${alertmanager}`,
    nodeExporter: `http://${nodeExporter}`,
    startNodeExporter,
    async stopNodeExporter() {
      exporter?.signal('SIGTERM')
      await exporter?.ended
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

async function answers(program: Program, url: string): Promise<void> {
  await until(`${url} answers`, async () => {
    if (program.child.exitCode !== null) throw new Error(`It ended. It wrote:\n${program.stderr}`)
    return fetch(url).then(
      ({ ok }) => ok,
      () => false,
    )
  })
}

async function freeAddress(): Promise<string> {
  return `127.0.0.1:${await freePort()}`
}
