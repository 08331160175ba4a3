import htm from 'htm'
import { Component, h } from 'preact'

/** Markup without a build step: html`<p class=${name}>…</p>`. */
export const html = /** @type {any} */ (htm).bind(h)

/**
 * The component, drawn again only when a property is another one.
 * @param {(props: any) => any} render
 */
export function memo(render) {
  return class Memo extends Component {
    shouldComponentUpdate(next) {
      const keys = new Set([...Object.keys(next), ...Object.keys(this.props)])
      return [...keys].some(key => key !== 'children' && !Object.is(next[key], this.props[key]))
    }
    render(props) {
      return h(render, props)
    }
  }
}

/** Class names without the false ones. @param {...(string | false | null | undefined)} names */
export function classes(...names) {
  return names.filter(Boolean).join(' ')
}
