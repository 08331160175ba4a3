import { z } from 'zod'
import { confirmField, confirmOutput, toPreview } from '../../kit/confirm.ts'
import { quote, toByteText, toPercentText } from '../../kit/text.ts'
import { defineTool, type Tool } from '../../kit/tool.ts'
import { REVERSIBLE, type ToolDeps } from './deps.ts'
import { downloadFields, downloadOutput, type Found, findDownload } from './find-download.ts'
import { requireShown } from './until-shown.ts'

const FILES_STAY = 'SABnzbd does not delete the files of a completed download: they stay where they are.'

const output = z.object({
  ...confirmOutput,
  ...downloadOutput,
  deletedBytes: z
    .number()
    .describe('how much of it is or would be deleted, as far as the client tells; 0: the files stay'),
})

/** `remove_download`: removes one download from its client, with or without its files. */
export function removeDownload(deps: ToolDeps): Tool {
  return defineTool({
    name: 'remove_download',
    title: 'Remove a download',
    description:
      'Takes one download, finished or not, out of its client; withData deletes its files for good (never ' +
      'those of a finished SABnzbd download). Without confirm it only says what would be removed and ' +
      'deleted.',
    annotations: { ...REVERSIBLE, destructiveHint: true, idempotentHint: false },
    input: z.strictObject({
      ...downloadFields(deps.clients),
      withData: z.boolean().default(false),
      confirm: confirmField,
    }),
    output,
    async run({ withData, confirm, ...wanted }, signal) {
      const found = await findDownload(deps, wanted, { access: 'full', finished: true }, signal)
      const { client, list, waiting } = found
      const { id, name } = found.about
      const deletedBytes = withData ? toDeletable(found) : 0
      const about = { ...found.about, deletedBytes }
      if (!confirm) {
        const { data, text } = toPreview(toWould(found, withData), toEffects(found, withData))
        return { data: { ...about, ...data }, text }
      }
      await client.remove(id, { list, withData }, signal)
      await requireShown(waiting, `${quote(name)} is gone`, now =>
        [...now.downloads, ...now.finished].every(one => one.id !== id),
      )
      const rest = deletedBytes > 0 ? ` and ${toByteText(deletedBytes)} of it deleted` : ''
      const kept = withData && isKept(found) ? ` ${FILES_STAY}` : ''
      return {
        data: { ...about, done: true },
        text: `${quote(name)} was removed from ${client.name}${rest}.${kept}`,
      }
    },
  })
}

function toDeletable(found: Found): number {
  if (found.list === 'finished') return found.download.deletable ?? 0
  return Math.max(0, found.download.size - found.download.left)
}

/** Tells whether the files stay: SABnzbd's API deletes only the files of failed downloads. */
function isKept(found: Found): boolean {
  return found.list === 'finished' && found.download.deletable === undefined
}

function toWould(found: Found, withData: boolean): string {
  const bytes = toDeletable(found)
  const files = bytes > 0 ? `${toByteText(bytes)} of files` : 'what was loaded of it, if anything,'
  const rest = withData && !isKept(found) ? ` and delete ${files} for good` : ' and keep its files'
  return `remove ${quote(found.download.name)} from ${found.client.name}${rest}`
}

function toEffects(found: Found, withData: boolean): string[] {
  if (found.list === 'downloads') {
    const { size, left, state } = found.download
    if (size === 0) return [`It is ${state}, and its size is not known yet.`]
    const done = toPercentText((1 - left / size) * 100)
    return [`It is ${state}, ${done} of ${toByteText(size)} are loaded.`]
  }
  const { seeding, outcome, size } = found.download
  return [
    `It ${outcome === 'failed' ? 'failed' : 'is complete'}, ${toByteText(size)}.`,
    ...(seeding ? ['It is shared with others, which would end.'] : []),
    ...(withData && isKept(found) ? [FILES_STAY] : []),
  ]
}
