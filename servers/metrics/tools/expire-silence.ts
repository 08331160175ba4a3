import { z } from 'zod'
import { ToolFailure } from '../../kit/failure.ts'
import { foreignText } from '../../kit/foreign.ts'
import { pickInstance } from '../../kit/instances.ts'
import { quote, toTimeText } from '../../kit/text.ts'
import { defineTool, type Tool } from '../../kit/tool.ts'
import { alertmanagerSpec } from '../config.ts'
import type { Alertmanager, Silence } from '../upstreams/alertmanager/alertmanager.ts'

const output = z.object({
  silence: z.string(),
  changed: z.boolean().describe('false: it was over already'),
  comment: foreignText(500).describe('why it was made'),
})

/** `expire_silence`: ends a silence, so that its alerts notify again. */
export function expireSilence({ all }: { all: readonly Alertmanager[] }): Tool {
  return defineTool({
    name: 'expire_silence',
    title: 'End a silence',
    description: 'Ends a silence of Alertmanager early, so that the alerts it hid notify again.',
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    input: z.strictObject({
      silence: z.string().trim().min(1).max(100).describe('id from get_alerts or silence_alert'),
      instance: z.string().max(100).optional(),
    }),
    output,
    async run({ silence: id, instance }, signal) {
      const alertmanager = pickInstance(all, instance, alertmanagerSpec)
      alertmanager.require('change')
      const silences = await alertmanager.silences(signal)
      const found = silences.find(silence => silence.id === id)
      if (!found) throw toUnknown(id, alertmanager, silences)
      const changed = found.status.state !== 'expired'
      if (changed) await alertmanager.expire(id, signal)
      const name = quote(found.matchers.map(({ name: label, value }) => `${label}=${value}`).join(', '), 300)
      const text = changed
        ? `is over; its alerts notify again`
        : `was over already, since ${toTimeText(found.endsAt)}`
      return {
        data: { silence: id, changed, comment: found.comment },
        text: `The silence of ${name} (${quote(found.comment, 200)}) ${text}.`,
      }
    },
  })
}

function toUnknown(id: string, alertmanager: Alertmanager, silences: readonly Silence[]): ToolFailure {
  const active = silences.filter(({ status }) => status.state === 'active').slice(0, 5)
  const known = active.map(silence => `"${silence.id}" (${quote(silence.comment, 100)})`)
  return new ToolFailure({
    what: `${alertmanager.title} has no silence ${quote(id, 100)}.`,
    where: alertmanager.address,
    why: known.length > 0 ? `there is ${known.join(', ')}` : 'it has no active silence',
    fix: 'Take the id from get_alerts, and call it again.',
  })
}
