import { z } from 'zod'
import { cleanText, toByteText, toPercentText, toTenth } from '../../kit/text.ts'
import type { Disk } from '../machine/machine.ts'

/** A mounted filesystem in a tool's output. */
export const diskShape = z.object({
  mount: z.string(),
  device: z.string(),
  type: z.string().describe('the filesystem'),
  totalBytes: z.number(),
  usedBytes: z.number(),
  freeBytes: z.number().describe('what is left for programs'),
  percent: z.number().describe('used of what can be used, 0 to 100, as df counts'),
  readOnly: z.boolean(),
})
export type DiskUse = z.input<typeof diskShape>

export function toDiskUse(disk: Disk): DiskUse {
  return {
    mount: cleanText(disk.mount),
    device: cleanText(disk.device),
    type: cleanText(disk.type),
    totalBytes: disk.totalBytes,
    usedBytes: disk.usedBytes,
    freeBytes: disk.freeBytes,
    percent: toTenth(disk.percent),
    readOnly: disk.readOnly,
  }
}

/** Returns "Disk / 41 % of 252 GiB, 149 GiB free". */
export function toDiskText(disk: DiskUse): string {
  const usage = `${toPercentText(disk.percent)} of ${toByteText(disk.totalBytes)}, ${toByteText(disk.freeBytes)} free`
  return `Disk ${disk.mount} ${usage}${disk.readOnly ? ', read-only' : ''}`
}
