import htm from 'htm'
import { Component, h } from 'preact'

/** Writes markup without a build step: html`<p class=${name}>…</p>`. */
export const html = htm.bind(h)

/**
 * Returns the component, drawn again only when a property changes.
 * @template {object} Props
 * @param {(props: Props) => import('preact').ComponentChild} render
 */
export function memo(render) {
  return class Memo extends Component {
    /** @override @param {Readonly<Record<string, unknown>>} next */
    shouldComponentUpdate(next) {
      /** @type {Readonly<Record<string, unknown>>} */
      const before = this.props
      const keys = new Set([...Object.keys(next), ...Object.keys(before)])
      return [...keys].some(key => key !== 'children' && !Object.is(next[key], before[key]))
    }
    /** @override @param {Props} props */
    render(props) {
      return h(render, props)
    }
  }
}

/** Returns the text that was typed into a field. @param {Event} event */
export function typedIn(event) {
  return /** @type {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} */ (event.target).value
}

/** Joins class names without the false ones. @param {...(string | false | null | undefined)} names */
export function classes(...names) {
  return names.filter(Boolean).join(' ')
}
