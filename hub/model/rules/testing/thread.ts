import { fromIso } from '../../../core/clock.ts'
import type { BatchItem, ModelMessage, ModelRequest, ModelTool } from '../../../core/model.ts'
import { type Decision, decideReply } from '../decide-reply.ts'
import sample from './sample-catalogue.json' with { type: 'json' }

export const NOW = fromIso('2026-11-21T22:40:00Z') ?? 0 // Sat 23:40 in Berlin
export const TOOLS = [...sample.servers, ...sample.metaTools] as ModelTool[]
export const LEAN: ModelTool[] = [
  ...(sample.metaTools as ModelTool[]),
  {
    name: 'find_tools',
    description: '',
    inputSchema: { properties: { query: {}, limit: { type: 'integer', maximum: 10 } } },
  },
  { name: 'call_tool', description: '', inputSchema: {} },
]
const SCHEDULES = {
  schedules: [
    { id: 'sch_1', reason: 'check the disks' },
    { id: 'sch_2', reason: 'morning report', cron: '0 8 * * *' },
  ],
}

interface Result {
  text: string
  isError?: boolean
  structured?: unknown
}
export type Results = Record<string, Result>
export const RESULTS: Results = {
  get_system_metrics: { text: 'CPU 12 %, 45 °C' },
  get_disk_health: { text: 'All disks pass.' },
  list_schedules: { text: '', structured: SCHEDULES },
}

export const message = (text: string, conversation = 'homelab'): BatchItem => ({
  kind: 'message',
  origin: `Message from alex in the conversation ${conversation}`,
  text,
  at: NOW,
})
export const item = (kind: BatchItem['kind'], origin: string, text: string): BatchItem => ({
  kind,
  origin,
  text,
  at: NOW,
})

/** A thread that runs its cycles as the hub does: batch, steps with results, reply. */
export function openThread(tools = TOOLS, results: Results = RESULTS) {
  const messages: ModelMessage[] = []
  const request = (): ModelRequest => ({
    system: '',
    messages,
    tools,
    maxOutput: 4096,
    timezone: 'Europe/Berlin',
    now: NOW,
  })
  const step = (): Decision => {
    const decision = decideReply(request())
    if (JSON.stringify(decideReply(request())) !== JSON.stringify(decision))
      throw new Error('equal requests, other replies')
    messages.push({ role: 'assistant', ...decision })
    return decision
  }
  const answer = (decision: Decision) => {
    for (const call of decision.calls) {
      const { name = call.name } = call.name === 'call_tool' ? JSON.parse(call.arguments) : {}
      const result = { isError: false, text: 'ok', ...results[name] }
      messages.push({ role: 'tool', callId: call.id, name: call.name, ...result })
    }
  }
  const post = (items: BatchItem[], mark = 'INBOX') =>
    messages.push({ role: 'user', text: `[${mark} - ${items.length} events]`, items })
  const run = (...items: (string | BatchItem)[]) => {
    post(items.map(each => (typeof each === 'string' ? message(each) : each)))
    const calls: unknown[] = []
    for (let steps = 0; steps < 6; steps++) {
      const decision = step()
      answer(decision)
      for (const call of decision.calls) calls.push([call.name, JSON.parse(call.arguments)])
      const ended = decision.calls.length === 0 || decision.calls.some(call => call.name === 'schedule_wake')
      if (ended) return { text: decision.text, calls }
    }
    throw new Error('the cycle does not end')
  }
  return { messages, request, step, answer, post, run }
}
