import type { Registry } from 'prom-client'
import type { Signals } from '../../core/signals.ts'
import type { EndedOperation } from '../../core/telemetry.ts'
import { Counter, Histogram } from './prom-client.ts'

/** Describes a tool that exists; undefined for any other name. */
export type DescribeTool = (name: string) => { server: string; toolClass: string } | undefined

/** Seconds: from a commit on a fast disk to one that waits for a lock. */
const COMMIT = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5]
/** Seconds: from a built-in command to a slow model. */
const CALL = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]
/** Seconds: from a question that is answered at once to the longest cycle. */
const CYCLE = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800]
/** Seconds: from an idle hub to one that was down for a day. */
const WAIT = [0.01, 0.05, 0.1, 0.5, 1, 5, 30, 60, 300, 1800, 7200, 86_400]

export interface Counted {
  /** Counts an answer of a door. */
  countAnswer(door: string, status: number): void
}

/** Registers the figures that are counted as things happen, from the start of the hub on. */
export function addCounted(registers: Registry[], signals: Signals, describeTool: DescribeTool): Counted {
  const on = <Name extends string>(name: string, help: string, labelNames: Name[] = []) => ({
    name: `superbloom_${name}`,
    help,
    labelNames,
    registers,
  })
  const requests = new Counter(on('http_requests_total', 'Answered HTTP requests.', ['door', 'status']))
  const frames = new Counter(on('chat_frames_refused_total', 'Refused frames of chat.', ['code']))
  const commit = new Histogram({
    ...on('store_commit_duration_seconds', 'Time that commits took.'),
    buckets: COMMIT,
  })
  const queue = new Histogram({
    ...on('store_queue_duration_seconds', 'Time that the first write of a commit waited for it to begin.'),
    buckets: COMMIT,
  })
  signals.on('frameRefused', ({ code }) => frames.inc({ code }))
  signals.on('committed', ({ waited, took }) => {
    commit.observe(took / 1000)
    queue.observe(waited / 1000)
  })
  signals.on('operationEnded', countOperations(on, describeTool))
  return { countAnswer: (door, status) => requests.inc({ door, status }) }
}

type On = <Name extends string>(
  name: string,
  help: string,
  labelNames?: Name[],
) => { name: string; help: string; labelNames: Name[]; registers: Registry[] }

function countOperations(on: On, describeTool: DescribeTool): (ended: EndedOperation) => void {
  const messages = new Counter(on('messages_total', 'Messages of people and clients.', ['outcome']))
  const cycles = new Histogram({
    ...on('cycle_duration_seconds', 'Time that cycles ran.', ['agent', 'outcome']),
    buckets: CYCLE,
  })
  const waits = new Histogram({
    ...on('wake_delay_seconds', 'Time from an item, or the time it was due, to its cycle.', ['kind']),
    buckets: WAIT,
  })
  const steps = new Counter(on('steps_total', 'Steps of cycles.', ['agent']))
  const countModel = countModelCalls(on)
  const countTool = countToolCalls(on, describeTool)
  return ended => {
    switch (ended.kind) {
      case 'message':
        return messages.inc({ outcome: ended.outcome })
      case 'cycle':
        for (const { kind, ms } of ended.waits) waits.observe({ kind }, ms / 1000)
        steps.inc({ agent: ended.agent }, ended.steps)
        return cycles.observe({ agent: ended.agent, outcome: ended.outcome }, ended.seconds)
      case 'model':
        return countModel(ended)
      case 'tool':
        return countTool(ended)
      default:
        ended satisfies never
    }
  }
}

type EndedOf<Kind> = Extract<EndedOperation, { kind: Kind }>

function countModelCalls(on: On): (ended: EndedOf<'model'>) => void {
  const calls = new Histogram({
    ...on('model_call_duration_seconds', 'Time that calls of models took.', ['model', 'outcome']),
    buckets: CALL,
  })
  const tokens = new Counter(
    on('model_tokens_total', 'Tokens of models: input that was not cached, cached input, output.', [
      'model',
      'type',
    ]),
  )
  const money = new Counter(on('model_cost_total', 'Money that models cost.', ['model', 'currency']))
  return ({ model: asked, outcome, seconds, spending, reply }) => {
    const model = reply?.by?.name ?? asked
    calls.observe({ model, outcome }, seconds)
    if (!spending) return
    const { input, cachedInput, output, costMicros, currency } = spending
    tokens.inc({ model, type: 'input' }, Math.max(0, input - cachedInput))
    tokens.inc({ model, type: 'cached_input' }, cachedInput)
    tokens.inc({ model, type: 'output' }, output)
    if (currency !== undefined) money.inc({ model, currency }, costMicros / 1_000_000)
  }
}

/** What a model or a client calls that is no tool: its name would be a label that anyone could choose. */
const UNKNOWN_TOOL = { tool: 'unknown', server: 'unknown', toolClass: 'unknown' }

function countToolCalls(on: On, describeTool: DescribeTool): (ended: EndedOf<'tool'>) => void {
  const calls = new Counter(
    on('tool_calls_total', 'Calls of tools.', ['server', 'tool', 'class', 'caller', 'outcome']),
  )
  const duration = new Histogram({
    ...on('tool_call_duration_seconds', 'Time that calls of tools took.', ['server', 'class']),
    buckets: CALL,
  })
  return ({ tool: name, caller, outcome, seconds }) => {
    const found = describeTool(name)
    const { tool, server, toolClass } = found ? { tool: name, ...found } : UNKNOWN_TOOL
    calls.inc({ server, tool, class: toolClass, caller, outcome })
    duration.observe({ server, class: toolClass }, seconds)
  }
}
