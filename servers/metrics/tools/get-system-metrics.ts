import { z } from 'zod'
import type { Clock } from '../../kit/clock.ts'
import { cleanText, toByteText, toPercentText, toSpanText, toTenth } from '../../kit/text.ts'
import { defineTool, type Tool } from '../../kit/tool.ts'
import type { Host, Hosts } from '../hosts/hosts.ts'
import type { About, Cpu, Disks, Memory, Temperature } from '../machine/machine.ts'
import { type NetworkUse, toCpuPercent, toMemoryPercent, toNetworkUse } from '../sampler.ts'
import { diskShape, toDiskText, toDiskUse } from './disk-use.ts'

const bytes = z.number().describe('bytes')
const percent = z.number().describe('0 to 100')

const output = z.object({
  at: z.number().describe('when, unix milliseconds'),
  host: z.string(),
  otherHosts: z.array(z.string()).optional().describe('what else can be asked for as host'),
  os: z.string().optional(),
  kernel: z.string(),
  arch: z.string(),
  virtual: z.string().optional().describe('the kind of virtual machine, if it is one'),
  uptimeSeconds: z.number(),
  cpu: z.object({
    percent: percent.describe('of all cores together, 0 to 100'),
    overSeconds: z.number().describe('the span that percent and network rates are measured over'),
    cores: z.int(),
    model: z.string().optional(),
    load: z
      .object({ one: z.number(), five: z.number(), fifteen: z.number() })
      .optional()
      .describe('load averages'),
  }),
  memory: z.object({ totalBytes: bytes, usedBytes: bytes, availableBytes: bytes, percent }),
  swap: z
    .object({ totalBytes: bytes, usedBytes: bytes, percent })
    .optional()
    .describe('absent: there is no swap'),
  disks: z.array(diskShape),
  silentMounts: z
    .array(z.string())
    .optional()
    .describe('mounts that do not answer, such as a share that is down'),
  temperatures: z
    .array(z.object({ sensor: z.string(), celsius: z.number(), criticalCelsius: z.number().optional() }))
    .optional()
    .describe('absent: this machine has no sensor that can be read'),
  network: z.array(
    z.object({
      interface: z.string(),
      receivedBytes: bytes.describe('bytes since the interface came up'),
      sentBytes: bytes.describe('bytes since the interface came up'),
      receivedBytesPerSecond: z.number().optional(),
      sentBytesPerSecond: z.number().optional(),
    }),
  ),
})
type Metrics = z.input<typeof output>

interface Facts {
  about: About
  cpu: Cpu
  memory: Memory
  disks: Disks
  temperatures: readonly Temperature[]
}

/** `get_system_metrics`: describes a machine as it is now. */
export function getSystemMetrics({ hosts, clock }: { hosts: Hosts; clock: Clock }): Tool {
  const { local, remote } = hosts
  const names = [local, ...remote].map(host => host.name)
  return defineTool({
    name: 'get_system_metrics',
    title: 'System metrics',
    description:
      'How a machine is doing now: CPU, load, memory, swap, disks, temperatures, network, uptime. Call it ' +
      'first for its health, load, space or heat; then get_processes for what uses it, get_disk_health for ' +
      'a failing disk.',
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    input: z.strictObject({
      host: z
        .string()
        .max(200)
        .optional()
        .describe(
          names.length > 1 ? `one of ${names.join(', ')}; default: ${local.name}` : `only ${local.name}`,
        ),
    }),
    output,
    async run({ host: name }, signal) {
      const host = hosts.pick(name)
      const others = names.filter(other => other !== host.name)
      const data = {
        ...(await look(host, clock, signal)),
        ...(others.length > 0 ? { otherHosts: others } : {}),
      }
      return { data, text: toText(data) }
    },
  })
}

async function look({ machine, sampler }: Host, clock: Clock, signal: AbortSignal): Promise<Metrics> {
  const [window, about, cpu, memory, disks, temperatures] = await Promise.all([
    sampler.window(signal),
    machine.about(),
    machine.cpu(),
    machine.memory(),
    machine.disks(),
    machine.temperatures(),
  ])
  const use = {
    percent: toCpuPercent(window.from, window.to) ?? 0,
    overSeconds: (window.to.at - window.from.at) / 1000,
    network: toNetworkUse(window.from, window.to),
  }
  return toMetrics({ about, cpu, memory, disks, temperatures }, use, clock.now())
}

function toMetrics(
  { about, cpu, memory, disks, temperatures }: Facts,
  use: { percent: number; overSeconds: number; network: readonly NetworkUse[] },
  at: number,
): Metrics {
  const { load, model, cores } = cpu
  return {
    at,
    host: cleanText(about.host, 100),
    ...(about.os === undefined ? {} : { os: cleanText(about.os) }),
    kernel: cleanText(about.kernel),
    arch: about.arch,
    ...(about.virtual === undefined ? {} : { virtual: cleanText(about.virtual) }),
    uptimeSeconds: Math.round(about.uptimeSeconds),
    cpu: {
      percent: toTenth(use.percent),
      overSeconds: toTenth(use.overSeconds),
      cores,
      ...(model === undefined ? {} : { model: cleanText(model) }),
      ...(load === undefined ? {} : { load: { one: load[0], five: load[1], fifteen: load[2] } }),
    },
    ...toMemoryUse(memory),
    disks: disks.disks.map(toDiskUse),
    ...(disks.silent.length > 0 ? { silentMounts: disks.silent.map(mount => cleanText(mount)) } : {}),
    ...(temperatures.length > 0 ? { temperatures: temperatures.map(toTemperature) } : {}),
    network: use.network.map(toNetwork),
  }
}

function toMemoryUse(memory: Memory): Pick<Metrics, 'memory' | 'swap'> {
  const { totalBytes, availableBytes, swap } = memory
  return {
    memory: {
      totalBytes,
      usedBytes: totalBytes - availableBytes,
      availableBytes,
      percent: toTenth(toMemoryPercent(memory)),
    },
    ...(swap ? { swap: { ...swap, percent: toTenth((swap.usedBytes / swap.totalBytes) * 100) } } : {}),
  }
}

function toTemperature(temperature: Temperature) {
  return { ...temperature, sensor: cleanText(temperature.sensor), celsius: toTenth(temperature.celsius) }
}

function toNetwork({ name, receivedBytes, sentBytes, rates }: NetworkUse): Metrics['network'][number] {
  return {
    interface: cleanText(name),
    receivedBytes,
    sentBytes,
    ...(rates
      ? { receivedBytesPerSecond: Math.round(rates.received), sentBytesPerSecond: Math.round(rates.sent) }
      : {}),
  }
}

function toText(metrics: Metrics): string {
  const { cpu, memory, swap, temperatures } = metrics
  const load = cpu.load ? `, load ${cpu.load.one} ${cpu.load.five} ${cpu.load.fifteen}` : ''
  const swapText = swap ? `swap ${toPercentText(swap.percent)} of ${toByteText(swap.totalBytes)}` : 'no swap'
  const heat = temperatures?.map(({ sensor, celsius }) => `${sensor} ${celsius} °C`).join(', ')
  const about = [metrics.os, metrics.virtual, `up ${toSpanText(metrics.uptimeSeconds)}`]
    .filter(Boolean)
    .join(', ')
  return [
    `${metrics.host} (${about})`,
    `CPU ${toPercentText(cpu.percent)} of ${cpu.cores} ${cpu.cores === 1 ? 'core' : 'cores'} over ${cpu.overSeconds} s${load}.`,
    `Memory ${toByteText(memory.usedBytes)} of ${toByteText(memory.totalBytes)} (${toPercentText(memory.percent)}), ${swapText}.`,
    ...metrics.disks.map(disk => `${toDiskText(disk)}.`),
    ...(metrics.silentMounts ?? []).map(mount => `${mount} does not answer.`),
    heat === undefined ? 'Temperature: no sensor can be read here.' : `Temperature: ${heat}.`,
    ...metrics.network.map(toNetworkText),
    ...(metrics.otherHosts ? [`Other hosts that can be asked for: ${metrics.otherHosts.join(', ')}.`] : []),
  ].join('\n')
}

function toNetworkText(network: Metrics['network'][number]): string {
  const { receivedBytesPerSecond: received, sentBytesPerSecond: sent } = network
  const rates =
    received === undefined || sent === undefined
      ? ''
      : `in ${toByteText(received)}/s, out ${toByteText(sent)}/s, `
  const totals = `${toByteText(network.receivedBytes)} received and ${toByteText(network.sentBytes)} sent in all`
  return `Network ${network.interface}: ${rates}${totals}.`
}
