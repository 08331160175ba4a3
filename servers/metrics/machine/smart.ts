import { z } from 'zod'
import type { Drive } from './machine.ts'

export type SmartReport = Omit<Drive, 'device' | 'kind' | 'sizeBytes'>

/** Raw counts of an ATA drive that should be 0: number and meaning of their attributes. */
const BAD_COUNTS = new Map([
  [5, 'reallocated sectors'],
  [197, 'sectors waiting to be reallocated'],
  [198, 'uncorrectable sectors'],
])

/** The used part of `smartctl --all --json` (smartmontools 7); all of it may be missing. */
const smartOutput = z.object({
  smartctl: z.object({ messages: z.array(z.object({ string: z.string() })).optional() }).optional(),
  model_name: z.string().optional(),
  serial_number: z.string().optional(),
  smart_status: z.object({ passed: z.boolean().optional() }).optional(),
  temperature: z.object({ current: z.number().optional() }).optional(),
  power_on_time: z.object({ hours: z.number().optional() }).optional(),
  endurance_used: z.object({ current_percent: z.number().optional() }).optional(),
  ata_smart_attributes: z
    .object({
      table: z.array(
        z.object({
          id: z.number(),
          name: z.string(),
          when_failed: z.string().optional(),
          raw: z.object({ value: z.number() }),
        }),
      ),
    })
    .optional(),
  nvme_smart_health_information_log: z
    .object({
      critical_warning: z.number().optional(),
      percentage_used: z.number().optional(),
      media_errors: z.number().optional(),
      available_spare: z.number().optional(),
      available_spare_threshold: z.number().optional(),
    })
    .optional(),
})
type SmartOutput = z.infer<typeof smartOutput>

/** Parses smartctl's JSON about a drive. If it has no verdict, `unknown` says why. */
export function parseSmart(text: string): SmartReport {
  const parsed = smartOutput.safeParse(parseJson(text))
  if (!parsed.success) return { warnings: [], unknown: 'smartctl gave an answer that is not understood here' }
  const output = parsed.data
  const warnings = [...toAtaWarnings(output), ...toNvmeWarnings(output)]
  const wear =
    output.nvme_smart_health_information_log?.percentage_used ?? output.endurance_used?.current_percent
  return {
    warnings,
    ...toVerdict(output, warnings),
    serial: output.serial_number,
    celsius: output.temperature?.current || undefined,
    powerOnHours: output.power_on_time?.hours,
    wearPercent: wear,
    ...(output.model_name === undefined ? {} : { model: output.model_name }),
  }
}

function toVerdict(output: SmartOutput, warnings: readonly string[]): Pick<Drive, 'health' | 'unknown'> {
  switch (output.smart_status?.passed) {
    case true:
      return { health: warnings.length > 0 ? 'warning' : 'ok' }
    case false:
      return { health: 'failing' }
    default: {
      const said = output.smartctl?.messages?.map(message => message.string.trim()).join('; ')
      return { unknown: said || 'the drive gives no SMART verdict; it may be asleep, and was not woken' }
    }
  }
}

function toAtaWarnings(output: SmartOutput): string[] {
  return (output.ata_smart_attributes?.table ?? []).flatMap(attribute => {
    const meaning = BAD_COUNTS.get(attribute.id)
    if (meaning !== undefined && attribute.raw.value > 0) return [`${attribute.raw.value} ${meaning}`]
    return attribute.when_failed === 'now' ? [`${attribute.name} is below its threshold`] : []
  })
}

function toNvmeWarnings(output: SmartOutput): string[] {
  const log = output.nvme_smart_health_information_log
  if (!log) return []
  const { available_spare: spare, available_spare_threshold: least } = log
  return [
    ...(log.critical_warning ? [`critical warning ${log.critical_warning}`] : []),
    ...(log.media_errors ? [`${log.media_errors} media errors`] : []),
    ...(log.percentage_used !== undefined && log.percentage_used >= 90
      ? [`${log.percentage_used} % of its rated life used`]
      : []),
    ...(spare !== undefined && least !== undefined && spare <= least ? [`only ${spare} % spare left`] : []),
  ]
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
