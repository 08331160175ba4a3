import { z } from 'zod'
import { cleanedText, tenths } from '../../kit/fields.ts'
import { known, type Text, toFacts } from '../../kit/render.ts'
import { cleanText, toByteText, toPercentText } from '../../kit/text.ts'
import { type DataOf, defineTool, type Tool } from '../../kit/tool.ts'
import type { About, Disk, Drive, Machine } from '../machine/machine.ts'
import { diskShape, silentMountsField, toDiskText } from './disk-use.ts'

/** Milliseconds; a bus full of slow drives takes seconds for each. */
const LIMIT = 60_000
const FULL = 95

const output = z.object({
  drives: z.array(
    z.object({
      device: z.string(),
      model: cleanedText().optional(),
      serial: cleanedText().optional(),
      kind: z.enum(['hdd', 'ssd', 'nvme']).optional(),
      sizeBytes: z.number().optional(),
      health: z
        .enum(['ok', 'warning', 'failing'])
        .optional()
        .describe('absent: the drive does not tell; see unknown'),
      unknown: cleanedText().optional().describe('why there is no health'),
      warnings: z.array(cleanedText()),
      celsius: z.number().optional(),
      powerOnHours: z.number().optional(),
      wearPercent: z.number().optional().describe('of the rated life of an SSD'),
    }),
  ),
  filesystems: z.array(
    diskShape.extend({
      inodePercent: tenths().optional().describe('files used of the files possible, 0 to 100'),
      warnings: z.array(z.string()),
    }),
  ),
  silentMounts: silentMountsField,
  note: z.string().optional().describe('why this machine tells little about its drives'),
})
type Health = DataOf<typeof output>

/** `get_disk_health`: tells whether drives fail (SMART) and filesystems are full or read-only. */
export function getDiskHealth({ machine }: { machine: Machine }): Tool {
  return defineTool({
    name: 'get_disk_health',
    title: 'Disk health',
    description:
      'Whether drives of this machine are failing (SMART, bad sectors, wear, temperature) and filesystems ' +
      'are full, out of inodes or read-only. Call it for disk errors, odd slowness or a disk_high event. ' +
      'For plain usage get_system_metrics is cheaper.',
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    input: z.strictObject({}),
    output,
    limit: LIMIT,
    async run(_input, signal) {
      const [drives, { disks, silent }, about] = await Promise.all([
        machine.drives(signal),
        machine.disks(),
        machine.about(),
      ])
      const data = {
        drives,
        filesystems: disks.map(disk => ({ ...disk, warnings: toWarnings(disk) })),
        silentMounts: silent.length > 0 ? silent : undefined,
        note: toNote(drives, about),
      }
      return { data, text: toText }
    },
  })
}

function toWarnings({ readOnly, percent, inodePercent = 0 }: Disk): string[] {
  const warnings = [
    readOnly && 'mounted read-only: on purpose, or by the kernel after an error (see dmesg)',
    percent >= FULL && 'almost full',
    inodePercent >= FULL && 'almost out of inodes: no new files although there may be space',
  ]
  return warnings.filter(warning => warning !== false)
}

/** Returns one note for the machine, since a model would otherwise ask again for each drive. */
function toNote(drives: readonly Drive[], about: About): string | undefined {
  if (drives.some(drive => drive.health !== undefined)) return undefined
  if (about.virtual !== undefined) {
    return `No drive of this machine tells its health: it is virtual (${cleanText(about.virtual)}), so its drives are too. Ask the host that it runs on.`
  }
  if (drives.length === 0) return 'No drive can be seen from here.'
  return 'No drive tells its health here: SMART needs smartctl (package smartmontools), root, and in a container the devices (--device, or privileged).'
}

function toText({ note, drives, filesystems, silentMounts = [] }: Health): Text {
  return [
    note,
    drives.map(toDriveText),
    filesystems.map(disk => {
      const inodes = known(disk.inodePercent, percent => `inodes ${toPercentText(percent)}`)
      return `${toFacts([toDiskText(disk), inodes])}${toWarningText(disk.warnings)}.`
    }),
    silentMounts.map(mount => `${mount} does not answer.`),
  ]
}

function toDriveText(drive: Health['drives'][number]): string {
  const what = toFacts([drive.kind?.toUpperCase(), drive.model, known(drive.sizeBytes, toByteText)], ' ')
  const facts = toFacts([
    drive.health ?? `health unknown (${drive.unknown ?? 'it does not tell'})`,
    known(drive.celsius, celsius => `${celsius} °C`),
    known(drive.powerOnHours, hours => `${hours} hours on`),
    known(drive.wearPercent, percent => `${toPercentText(percent)} worn`),
  ])
  return `Drive ${drive.device}${what && ` (${what})`}: ${facts}${toWarningText(drive.warnings)}.`
}

function toWarningText(warnings: readonly string[]): string {
  return warnings.length > 0 ? `. WARNING: ${warnings.join('; ')}` : ''
}
