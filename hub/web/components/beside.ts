import type { FileEntry } from '../../../schemas/files.ts'
import type { Picture } from '../conversation.ts'
import type { Files } from '../files.ts'
import { html } from '../html.ts'
import { useAction } from '../use-tool.ts'
import { Icon } from './icons.ts'

interface SentFilesProps {
  files: FileEntry[] | undefined
  onSave: Files['save']
}

/** Shows the files that a person sent beside the text, each of which can be saved. */
export function SentFiles({ files, onSave }: SentFilesProps) {
  const { isBusy, error, start } = useAction()
  if (!files) return null
  return html`<ul class="sent-files">
    ${files.map(
      file => html`<li key=${file.id}><button type="button" class="quiet" aria-disabled=${isBusy ? 'true' : 'false'} onClick=${() => start(() => onSave(file))}>
        <${Icon} name="file" /><span dir="auto">${file.name}</span></button></li>`,
    )}
    ${error && html`<li class="panel-error" role="alert">${error}</li>`}
  </ul>`
}

/** Shows the pictures that a person sent beside the text. */
export function Pictures({ images = [] }: { images: Picture[] | undefined }) {
  return images.map(
    ({ mimeType, data }, index) =>
      html`<img class="picture" key=${index} alt=${`Picture ${index + 1} of this message`} src=${`data:${mimeType};base64,${data}`} />`,
  )
}
