import { useRef } from 'preact/hooks'
import { html } from '../html.ts'
import { MOST_PICTURES } from '../pictures.ts'
import { Icon } from './icons.ts'

/** Shows the pictures of the next message, and the button that adds one. */
export function Attachments({ files, onChange }: { files: File[]; onChange: (files: File[]) => void }) {
  const input = useRef<HTMLInputElement>(null)

  function add(event: Event) {
    const { files: chosen } = event.currentTarget as HTMLInputElement
    onChange([...files, ...(chosen ?? [])])
    if (input.current) input.current.value = ''
  }

  return html`<button type="button" class="attach" aria-label="Add a picture" title="Add a picture (or paste one)"
      disabled=${files.length >= MOST_PICTURES} onClick=${() => input.current?.click()}><${Icon} name="picture" /></button>
    <input ref=${input} type="file" accept="image/*" multiple hidden onChange=${add} />
    ${
      files.length > 0 &&
      html`<ul class="attached" aria-label="Pictures to send">${files.map(
        (file, index) => html`<li key=${file.name + index}>
        <span>${file.name}</span>
        <button type="button" class="quiet square" aria-label=${`Remove ${file.name}`} onClick=${() => onChange(files.filter(one => one !== file))}><${Icon} name="cross" /></button>
      </li>`,
      )}</ul>`
    }`
}
