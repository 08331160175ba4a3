import { useRef } from 'preact/hooks'
import { html } from '../html.js'
import { MOST_PICTURES } from '../pictures.js'
import { Icon } from './icons.js'

/**
 * Shows the pictures of the next message, and the button that adds one.
 * @param {{files: File[], onChange: (files: File[]) => void}} props
 */
export function Attachments({ files, onChange }) {
  const input = useRef(/** @type {HTMLInputElement | null} */ (null))

  /** @param {Event} event */
  function add(event) {
    const { files: chosen } = /** @type {HTMLInputElement} */ (event.currentTarget)
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
