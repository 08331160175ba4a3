import { useRef } from 'preact/hooks'
import { html } from '../html.ts'
import { Icon } from './icons.ts'

interface AttachmentsProps {
  files: File[]
  /** Types of files that can be chosen; undefined for any. */
  accept: string | undefined
  onChange: (files: File[]) => void
}

/** Shows the files of the next message, and the button that adds some. */
export function Attachments({ files, accept, onChange }: AttachmentsProps) {
  const input = useRef<HTMLInputElement>(null)

  function add(event: Event) {
    const { files: chosen } = event.currentTarget as HTMLInputElement
    onChange([...files, ...(chosen ?? [])])
    if (input.current) input.current.value = ''
  }

  return html`<button type="button" class="attach" aria-label="Add files" title="Add pictures or files (or paste them)"
      onClick=${() => input.current?.click()}><${Icon} name="clip" /></button>
    <input ref=${input} type="file" accept=${accept} multiple hidden onChange=${add} />
    ${
      files.length > 0 &&
      html`<ul class="attached" aria-label="Files to send">${files.map(
        (file, index) => html`<li key=${file.name + index}>
        <span>${file.name}</span>
        <button type="button" class="quiet square" aria-label=${`Remove ${file.name}`} onClick=${() => onChange(files.filter(one => one !== file))}><${Icon} name="cross" /></button>
      </li>`,
      )}</ul>`
    }`
}
