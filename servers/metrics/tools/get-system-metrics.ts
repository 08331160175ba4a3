import { z } from 'zod'
import type { Clock } from '../../kit/clock.ts'
import { ToolFailure } from '../../kit/failure.ts'
import { cleanedText, tenths } from '../../kit/fields.ts'
import { known, type Text, toFacts } from '../../kit/render.ts'
import { toByteText, toCountText, toPercentText, toRateText, toSpanText, toTimeText } from '../../kit/text.ts'
import { type DataOf, defineTool, type Tool } from '../../kit/tool.ts'
import { HISTORY_KINDS, HISTORY_SPANS, type History, type HistorySpan } from '../history/history.ts'
import type { Host, Hosts } from '../hosts.ts'
import { toCpuPercent, toMemoryPercent, toNetworkUse } from '../machine/sampler.ts'
import { diskShape, silentMountsField, toDiskText } from './disk-use.ts'

const bytes = z.number().describe('bytes')
const percent = tenths().describe('0 to 100')

const output = z.object({
  at: z.number().describe('when, unix milliseconds'),
  host: cleanedText(100),
  otherHosts: z.array(z.string()).optional().describe('what else can be asked for as host'),
  os: cleanedText().optional(),
  kernel: cleanedText(),
  arch: z.string(),
  virtual: cleanedText().optional().describe('the kind of virtual machine, if it is one'),
  uptimeSeconds: z.number().overwrite(Math.round),
  cpu: z.object({
    percent: percent.describe('of all cores together, 0 to 100'),
    overSeconds: tenths().describe('the span that percent and network rates are measured over'),
    cores: z.int(),
    model: cleanedText().optional(),
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
  silentMounts: silentMountsField,
  temperatures: z
    .array(z.object({ sensor: cleanedText(), celsius: tenths(), criticalCelsius: z.number().optional() }))
    .optional()
    .describe('absent: this machine has no sensor that can be read'),
  network: z.array(
    z.object({
      interface: cleanedText(),
      receivedBytes: bytes.describe('bytes since the interface came up'),
      sentBytes: bytes.describe('bytes since the interface came up'),
      receivedBytesPerSecond: z.number().overwrite(Math.round).optional(),
      sentBytesPerSecond: z.number().overwrite(Math.round).optional(),
    }),
  ),
  history: z
    .object({
      from: z.number().describe('when the first step begins, unix milliseconds'),
      stepSeconds: z.number(),
      curves: z.array(
        z.object({
          kind: z.enum(HISTORY_KINDS).describe('in per cent, a temperature in °C'),
          name: z.string().optional().describe('the mount or the sensor'),
          least: tenths(),
          mean: tenths(),
          most: tenths(),
          values: z.array(
            z.union([tenths().describe('the mean of the step'), z.null().describe('not measured')]),
          ),
        }),
      ),
    })
    .optional(),
})
type Metrics = DataOf<typeof output>

/** `get_system_metrics`: describes a machine as it is now. */
export function getSystemMetrics(deps: {
  hosts: Hosts
  /** Undefined where none is kept. */
  history: History | undefined
  clock: Clock
}): Tool {
  const { hosts, history, clock } = deps
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
      history: z.enum(HISTORY_SPANS).optional().describe('adds how it went'),
    }),
    output,
    async run({ host: name, history: span }, signal) {
      const host = hosts.pick(name)
      const others = names.filter(other => other !== host.name)
      const otherHosts = others.length > 0 ? others : undefined
      const course = span && { history: toHistory(history, host.name, span) }
      return { data: { ...(await measure(host, clock, signal)), otherHosts, ...course }, text: toText }
    },
  })
}

async function measure({ machine, sampler }: Host, clock: Clock, signal: AbortSignal): Promise<Metrics> {
  const [{ from, to }, about, cpu, memory, { disks, silent }, temperatures] = await Promise.all([
    sampler.window(signal),
    machine.about(),
    machine.cpu(),
    machine.memory(),
    machine.disks(),
    machine.temperatures(),
  ])
  const { totalBytes, availableBytes, swap } = memory
  const [one, five, fifteen] = cpu.load ?? []
  return {
    at: clock.now(),
    ...about,
    cpu: {
      ...cpu,
      percent: toCpuPercent(from, to) ?? 0,
      overSeconds: (to.at - from.at) / 1000,
      load:
        one === undefined || five === undefined || fifteen === undefined ? undefined : { one, five, fifteen },
    },
    memory: {
      totalBytes,
      usedBytes: totalBytes - availableBytes,
      availableBytes,
      percent: toMemoryPercent(memory),
    },
    swap: swap && { ...swap, percent: (swap.usedBytes / swap.totalBytes) * 100 },
    disks,
    silentMounts: silent.length > 0 ? silent : undefined,
    temperatures: temperatures.length > 0 ? temperatures : undefined,
    network: toNetworkUse(from, to).map(({ name, rates, ...totals }) => ({
      interface: name,
      ...totals,
      receivedBytesPerSecond: rates?.received,
      sentBytesPerSecond: rates?.sent,
    })),
  }
}

/** Returns the course of a host's figures. Throws a ToolFailure where none is kept. */
function toHistory(history: History | undefined, host: string, span: HistorySpan): Metrics['history'] {
  if (!history) {
    throw new ToolFailure({
      what: 'No history is kept here.',
      where: 'METRICS_HISTORY',
      why: 'it is off',
      fix: 'Ask the owner to unset METRICS_HISTORY, or call it without history.',
    })
  }
  const { from, step, curves } = history.read(host, span)
  return {
    from,
    stepSeconds: step / 1000,
    curves: curves.map(({ kind, name, values }) => {
      const known = values.filter(value => value !== null)
      const mean = known.reduce((sum, value) => sum + value, 0) / known.length
      return {
        kind,
        name: name || undefined,
        least: Math.min(...known),
        mean,
        most: Math.max(...known),
        values,
      }
    }),
  }
}

function toText(metrics: Metrics): Text {
  const { cpu, memory, swap, silentMounts = [], temperatures, otherHosts } = metrics
  const about = toFacts([metrics.os, metrics.virtual, `up ${toSpanText(metrics.uptimeSeconds)}`])
  const load = cpu.load && `load ${cpu.load.one} ${cpu.load.five} ${cpu.load.fifteen}`
  const use = `CPU ${toPercentText(cpu.percent)} of ${toCountText(cpu.cores, 'core')} over ${cpu.overSeconds} s`
  const swapText = swap ? `swap ${toPercentText(swap.percent)} of ${toByteText(swap.totalBytes)}` : 'no swap'
  const heat = temperatures?.map(({ sensor, celsius }) => `${sensor} ${celsius} °C`)
  return [
    `${metrics.host} (${about})`,
    `${toFacts([use, load])}.`,
    `Memory ${toByteText(memory.usedBytes)} of ${toByteText(memory.totalBytes)} (${toPercentText(memory.percent)}), ${swapText}.`,
    metrics.disks.map(disk => `${toDiskText(disk)}.`),
    silentMounts.map(mount => `${mount} does not answer.`),
    `Temperature: ${heat ? heat.join(', ') : 'no sensor can be read here'}.`,
    metrics.network.map(toNetworkText),
    metrics.history && toHistoryText(metrics.history),
    otherHosts && `Other hosts that can be asked for: ${otherHosts.join(', ')}.`,
  ]
}

function toNetworkText(network: Metrics['network'][number]): string {
  const { receivedBytesPerSecond: received, sentBytesPerSecond: sent } = network
  const facts = toFacts([
    known(received, rate => `in ${toRateText(rate)}`),
    known(sent, rate => `out ${toRateText(rate)}`),
    `${toByteText(network.receivedBytes)} received and ${toByteText(network.sentBytes)} sent in all`,
  ])
  return `Network ${network.interface}: ${facts}.`
}

function toHistoryText({ from, curves, stepSeconds }: NonNullable<Metrics['history']>): Text {
  if (curves.length === 0) return 'Nothing is known of how it went: the history has just begun.'
  const lines = curves.map(({ kind, name, least, mean, most }) => {
    const unit = kind === 'temperature' ? '°C' : '%'
    return `- ${toFacts([kind, name], ' ')}: least ${least}, mean ${mean}, most ${most} ${unit}`
  })
  return [`Since ${toTimeText(from)}, by means of ${toSpanText(stepSeconds)}:`, lines]
}
