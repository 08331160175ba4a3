import { z } from 'zod'
import { cycleWhy, type ListedWhy } from '../../../schemas/hub-lists.ts'
import { toIso } from '../../core/clock.ts'
import { HubError } from '../../core/errors.ts'
import { plural, toLine } from '../../core/text.ts'
import { agentOfThread } from '../../store/threads.ts'
import type { HubToolDeps } from './deps.ts'
import { defineHubTool } from './hub-tool.ts'

type Explained = Awaited<ReturnType<HubToolDeps['why']>>
type Step = ListedWhy['steps'][number]

export const explainCycle = defineHubTool({
  name: 'hub_explain_cycle',
  title: 'Explain a cycle',
  description:
    'What one cycle sent to the model and got, step by step, with model, tokens, money and time (hub_read_thread names cycles). Without a step only the messages that each step added.',
  input: z.strictObject({
    cycle: z.string().min(1).max(200),
    step: z.int().min(1).optional().describe('the whole request of this step'),
  }),
  output: cycleWhy,
  effect: 'reads',
  right: 'records',
  async run({ cycle: id, step: wanted }, { deps }) {
    const explained = await deps.why(id)
    const { cycle, steps } = explained
    const shown = wanted === undefined ? steps : steps.filter(({ step }) => step === wanted)
    if (wanted !== undefined && shown.length === 0)
      throw new HubError('not_found', `The cycle ${id} has no answer of a step ${wanted} in its history`)
    return {
      cycle: cycle.id,
      thread: cycle.thread_id,
      agent: agentOfThread(cycle.thread_id),
      status: cycle.status,
      ...(cycle.note === null ? {} : { note: cycle.note }),
      steps: shown.map(each => toStep(explained, each, wanted !== undefined)),
    }
  },
  toText: describeWhy,
})

function toStep({ preamble }: Explained, one: Explained['steps'][number], isWhole: boolean): Step {
  const { step, request, messages, fresh, answer } = one
  const earlier = isWhole ? 0 : fresh
  const shown = { step, earlier, messages: messages.slice(earlier).map(toPlain), answer: toPlain(answer) }
  if (!request) return shown
  const { model, at, ms, input, cachedInput: cached, output, costMicros, currency } = request
  return {
    ...shown,
    model,
    at,
    ms,
    tokens: { input, cached, output },
    cost: costMicros / 1_000_000,
    ...(currency === undefined ? {} : { currency }),
    ...(preamble === undefined ? {} : { isPreambleSame: preamble.digest === request.preamble }),
    ...(preamble && isWhole
      ? { system: preamble.system, tools: preamble.tools.map(({ name }) => name) }
      : {}),
  }
}

function toPlain(message: object): Record<string, unknown> {
  return { ...message }
}

function describeWhy({ cycle, agent, status, note, steps }: ListedWhy): string {
  return [
    `${cycle} of ${agent}: ${status}${note ? `, ${toLine(note)}` : ''}`,
    ...steps.flatMap(describeStep),
    'Messages are rebuilt from the history, before they take the form of the provider; prompt and tools are those of now.',
  ].join('\n')
}

function describeStep(one: Step): string[] {
  const { step, system, tools, isPreambleSame, earlier, messages, answer } = one
  return [
    `\nStep ${step}${describeFigures(one)}`,
    ...(system === undefined ? [] : [indent(`[system]\n${system}`)]),
    ...(tools === undefined ? [] : [indent(`[tools] ${tools.join(', ')}`)]),
    ...(isPreambleSame === false ? ['  Prompt or tools were others than those of now.'] : []),
    ...(earlier > 0 ? [`  ${plural(earlier, 'earlier message')}`] : []),
    ...messages.map(message => indent(describeMessage(message))),
    indent(`→ ${describeMessage(answer)}`),
  ]
}

function describeFigures({ model, at, ms, tokens, cost, currency }: Step): string {
  if (model === undefined || at === undefined || !tokens) return ': what was sent was not recorded yet'
  const { input, cached, output } = tokens
  const money = currency === undefined ? '' : `, ${cost} ${currency}`
  return `: ${model} at ${toIso(at)}, ${ms} ms, ${input} tokens in (${cached} cached), ${output} out${money}`
}

function describeMessage({ role, name, text, calls }: Record<string, unknown>): string {
  const made = Array.isArray(calls) ? calls.map(call => `\n${call.name} ${call.arguments}`) : []
  const title = role === 'tool' ? `tool ${name}` : role
  return `[${title}] ${text}${made.join('')}`
}

function indent(text: string): string {
  return text.replace(/^/gm, '  ')
}
