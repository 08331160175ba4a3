import { z } from 'zod'
import { cleanedText, tenths } from '../../kit/fields.ts'
import { toByteText, toPercentText } from '../../kit/text.ts'
import type { Disk } from '../machine/machine.ts'

/** A mounted filesystem in a tool's output. */
export const diskShape = z.object({
  mount: cleanedText(),
  device: cleanedText(),
  type: cleanedText().describe('the filesystem'),
  totalBytes: z.number(),
  usedBytes: z.number(),
  freeBytes: z.number().describe('what is left for programs'),
  percent: tenths().describe('used of what can be used, 0 to 100, as df counts'),
  readOnly: z.boolean(),
})

export const silentMountsField = z
  .array(cleanedText())
  .optional()
  .describe('mounts that do not answer, such as a share that is down')

/** Returns "Disk / 41 % of 252 GiB, 149 GiB free". */
export function toDiskText(disk: Omit<Disk, 'inodePercent'>): string {
  const usage = `${toPercentText(disk.percent)} of ${toByteText(disk.totalBytes)}, ${toByteText(disk.freeBytes)} free`
  return `Disk ${disk.mount} ${usage}${disk.readOnly ? ', read-only' : ''}`
}
