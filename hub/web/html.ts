import htm from 'htm'
import { Component, type ComponentChild, h } from 'preact'

/** Writes markup without a build step: html`<p class=${name}>…</p>`. */
export const html = htm.bind(h)

/** Returns the component, drawn again only when a property changes. */
export function memo<Props extends object>(render: (props: Props) => ComponentChild) {
  return class Memo extends Component {
    override shouldComponentUpdate(next: Readonly<Record<string, unknown>>) {
      const before: Readonly<Record<string, unknown>> = this.props
      const keys = new Set([...Object.keys(next), ...Object.keys(before)])
      return [...keys].some(key => key !== 'children' && !Object.is(next[key], before[key]))
    }
    override render(props: Props) {
      return h(render, props)
    }
  }
}

/** Returns the text that was typed into a field. */
export function typedIn(event: Event) {
  return (event.target as HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement).value
}

/** Joins class names without the false ones. */
export function classes(...names: (string | false | null | undefined)[]) {
  return names.filter(Boolean).join(' ')
}
