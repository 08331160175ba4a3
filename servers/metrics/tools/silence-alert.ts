import { z } from 'zod'
import type { Clock } from '../../kit/clock.ts'
import { confirmField, confirmOutput, toPreview } from '../../kit/confirm.ts'
import { foreignText } from '../../kit/foreign.ts'
import { pickInstance } from '../../kit/instances.ts'
import { cleanText, quote, toCountText, toSpanText, toTimeText } from '../../kit/text.ts'
import { defineTool, type Tool } from '../../kit/tool.ts'
import { alertmanagerSpec } from '../config.ts'
import type { Alertmanager, ManagedAlert } from '../upstreams/alertmanager/alertmanager.ts'
import { spanField, toSpan } from '../upstreams/prometheus/decide-query.ts'

const LONGEST = 30 * 86_400_000
const SHOWN = 10

const output = z.object({
  ...confirmOutput,
  silence: z.string().optional().describe('its id, for expire_silence'),
  until: z.number().optional().describe('unix milliseconds'),
  matches: z.array(foreignText(300)).describe('alerts of now that it silences'),
})

/** `silence_alert`: stops the notifications of an alert for a while. */
export function silenceAlert({ all, clock }: { all: readonly Alertmanager[]; clock: Clock }): Tool {
  return defineTool({
    name: 'silence_alert',
    title: 'Silence an alert',
    description:
      'Stops the notifications of an alert for a while; the alert itself goes on. For a known problem or ' +
      'planned work. Where not exactly one alert fits, it says what it would silence, and does so with ' +
      'confirm. expire_silence ends it.',
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    input: z.strictObject({
      alert: z.string().min(1).max(200).describe('its name from get_alerts'),
      labels: z
        .record(z.string().regex(/^[a-zA-Z_]\w*$/), z.string().max(500))
        .default({})
        .describe('that it must have too'),
      duration: spanField
        .refine(text => toSpan(text) > 0 && toSpan(text) <= LONGEST, 'at most 30 days')
        .describe('such as "2h", at most 30 days'),
      comment: z.string().trim().min(3).max(500).describe('why'),
      confirm: confirmField,
      instance: z.string().max(100).optional(),
    }),
    output,
    async run({ alert, labels, duration, comment, confirm, instance }, signal) {
      const alertmanager = pickInstance(all, instance, alertmanagerSpec)
      alertmanager.require('change')
      const wanted = { ...labels, alertname: alert }
      const matches = (await alertmanager.alerts(signal)).filter(one => fits(one, wanted)).map(toName)
      const now = clock.now()
      const to = now + toSpan(duration)
      if (matches.length !== 1 && !confirm) {
        const would = `silence ${quote(alert)} for ${toSpanText(toSpan(duration) / 1000)}, which ${describe(matches)}`
        const preview = toPreview(
          would,
          matches.slice(0, SHOWN).map(name => `It silences ${quote(name, 300)}.`),
        )
        return { ...preview, data: { ...preview.data, matches } }
      }
      const silence = await alertmanager.silence({ labels: wanted, from: now, to, comment }, signal)
      return {
        data: { done: true, silence, until: to, matches },
        text: `${quote(alert)} is silenced until ${toTimeText(to)} in ${alertmanager.title}, which ${describe(matches)}. To end it before: expire_silence with "${silence}".`,
      }
    },
  })
}

function fits({ labels }: ManagedAlert, wanted: Readonly<Record<string, string>>): boolean {
  return Object.entries(wanted).every(([label, value]) => labels[label] === value)
}

function toName({ labels }: ManagedAlert): string {
  const { alertname = '', ...others } = labels
  const pairs = Object.entries(others).map(([label, value]) => `${label}=${value}`)
  return cleanText([alertname, ...pairs].join(', '), 300)
}

function describe(matches: readonly string[]): string {
  return matches.length === 0 ? 'fits no alert of now' : `fits ${toCountText(matches.length, 'alert')} of now`
}
