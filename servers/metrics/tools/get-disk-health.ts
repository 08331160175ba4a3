import { z } from 'zod'
import { cleanText, toByteText, toPercentText, toTenth } from '../../kit/text.ts'
import { defineTool, type Tool } from '../../kit/tool.ts'
import type { About, Disk, Drive, Machine } from '../machine/machine.ts'
import { diskShape, toDiskText, toDiskUse } from './disk-use.ts'

/** Milliseconds; a bus full of slow drives takes seconds for each. */
const LIMIT = 60_000
const FULL = 95

const output = z.object({
  drives: z.array(
    z.object({
      device: z.string(),
      model: z.string().optional(),
      serial: z.string().optional(),
      kind: z.enum(['hdd', 'ssd', 'nvme']).optional(),
      sizeBytes: z.number().optional(),
      health: z
        .enum(['ok', 'warning', 'failing'])
        .optional()
        .describe('absent: the drive does not tell; see unknown'),
      unknown: z.string().optional().describe('why there is no health'),
      warnings: z.array(z.string()),
      celsius: z.number().optional(),
      powerOnHours: z.number().optional(),
      wearPercent: z.number().optional().describe('of the rated life of an SSD'),
    }),
  ),
  filesystems: z.array(
    diskShape.extend({
      inodePercent: z.number().optional().describe('files used of the files possible, 0 to 100'),
      warnings: z.array(z.string()),
    }),
  ),
  silentMounts: z
    .array(z.string())
    .optional()
    .describe('mounts that do not answer, such as a share that is down'),
  note: z.string().optional().describe('why this machine tells little about its drives'),
})
type Health = z.input<typeof output>

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
      const [drives, disks, about] = await Promise.all([
        machine.drives(signal),
        machine.disks(),
        machine.about(),
      ])
      const note = toNote(drives, about)
      const data: Health = {
        drives: drives.map(toDrive),
        filesystems: disks.disks.map(toFilesystem),
        ...(disks.silent.length > 0 ? { silentMounts: disks.silent.map(mount => cleanText(mount)) } : {}),
        ...(note === undefined ? {} : { note }),
      }
      return { data, text: toText(data) }
    },
  })
}

function toDrive(drive: Drive): Health['drives'][number] {
  const { model, serial, unknown, warnings } = drive
  return {
    ...drive,
    warnings: warnings.map(warning => cleanText(warning)),
    ...(model === undefined ? {} : { model: cleanText(model) }),
    ...(serial === undefined ? {} : { serial: cleanText(serial) }),
    ...(unknown === undefined ? {} : { unknown: cleanText(unknown) }),
  }
}

function toFilesystem(disk: Disk): Health['filesystems'][number] {
  const { inodePercent } = disk
  return {
    ...toDiskUse(disk),
    ...(inodePercent === undefined ? {} : { inodePercent: toTenth(inodePercent) }),
    warnings: [
      ...(disk.readOnly
        ? ['mounted read-only: on purpose, or by the kernel after an error (see dmesg)']
        : []),
      ...(disk.percent >= FULL ? ['almost full'] : []),
      ...(inodePercent !== undefined && inodePercent >= FULL
        ? ['almost out of inodes: no new files although there may be space']
        : []),
    ],
  }
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

function toText({ note, drives, filesystems, silentMounts = [] }: Health): string {
  return [
    ...(note === undefined ? [] : [note]),
    ...drives.map(toDriveText),
    ...filesystems.map(disk => {
      const inodes = disk.inodePercent === undefined ? '' : `, inodes ${toPercentText(disk.inodePercent)}`
      return `${toDiskText(disk)}${inodes}${toWarningText(disk.warnings)}.`
    }),
    ...silentMounts.map(mount => `${mount} does not answer.`),
  ].join('\n')
}

function toDriveText(drive: Health['drives'][number]): string {
  const size = drive.sizeBytes === undefined ? undefined : toByteText(drive.sizeBytes)
  const what = [drive.kind?.toUpperCase(), drive.model, size].filter(Boolean).join(' ')
  const facts = [
    drive.health ?? `health unknown (${drive.unknown ?? 'it does not tell'})`,
    drive.celsius === undefined ? undefined : `${drive.celsius} °C`,
    drive.powerOnHours === undefined ? undefined : `${drive.powerOnHours} hours on`,
    drive.wearPercent === undefined ? undefined : `${toPercentText(drive.wearPercent)} worn`,
  ].filter(Boolean)
  return `Drive ${drive.device}${what ? ` (${what})` : ''}: ${facts.join(', ')}${toWarningText(drive.warnings)}.`
}

function toWarningText(warnings: readonly string[]): string {
  return warnings.length > 0 ? `. WARNING: ${warnings.join('; ')}` : ''
}
