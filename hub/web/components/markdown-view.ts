import { render } from 'preact'
import { useErrorBoundary, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { html, memo } from '../html.ts'
import { closeOpenEnds, toBlocks, toFragment } from '../markdown.ts'
import { CopyButton } from './copy-button.ts'

type MarkdownProps = { text: string; streaming?: boolean }

/** Shows an agent's text; as it is where formatting it fails, so that one text never breaks the page. */
export const MarkdownView = memo((props: MarkdownProps) => {
  const [error] = useErrorBoundary()
  if (error !== undefined) return html`<p class="from-outside" dir="auto">${props.text}</p>`
  return html`<${Blocks} ...${props} />`
})

/** Shows a text block by block, so that a growing text is drawn again only at its end. */
function Blocks({ text, streaming = false }: MarkdownProps) {
  const blocks = useMemo(() => toBlocks(streaming ? closeOpenEnds(text) : text), [text, streaming])
  return html`<div class=${streaming ? 'md md-streaming' : 'md'} dir="auto">
    ${blocks.map((block, i) => html`<${Block} key=${i} source=${block.html} />`)}
  </div>`
}

const Block = memo(({ source }: { source: string }) => {
  const ref = useRef<HTMLElement>(null)
  useLayoutEffect(() => {
    const fragment = toFragment(source)
    const mounts = dress(fragment)
    ref.current?.replaceChildren(fragment)
    return () => {
      for (const mount of mounts) render(null, mount)
    }
  }, [source])
  return html`<div class="md-block" ref=${ref}></div>`
})

/**
 * Puts wide parts into boxes that scroll and that the keyboard reaches, and adds copy buttons to code. Returns the
 * elements that hold the buttons.
 */
function dress(fragment: DocumentFragment): HTMLElement[] {
  for (const table of fragment.querySelectorAll('table')) wrap(table, 'md-scroll', 'Table')
  return [...fragment.querySelectorAll('pre')].map(pre => {
    const box = document.createElement('div')
    const mount = document.createElement('div')
    const language = /language-(\S+)/.exec(pre.firstElementChild?.className ?? '')?.[1] ?? ''
    const name = document.createElement('span')
    box.className = 'md-code'
    mount.className = 'md-code-head'
    name.className = 'md-code-language'
    name.textContent = language
    pre.replaceWith(box)
    box.append(name, mount, pre)
    makeReachable(pre, language ? `Code, ${language}` : 'Code')
    render(html`<${CopyButton} text=${pre.textContent ?? ''} label="Copy this code" />`, mount)
    return mount
  })
}

function wrap(element: Element, className: string, label: string) {
  const box = document.createElement('div')
  box.className = className
  element.replaceWith(box)
  box.append(element)
  makeReachable(box, label)
}

function makeReachable(element: HTMLElement, label: string) {
  element.tabIndex = 0
  element.setAttribute('role', 'group')
  element.setAttribute('aria-label', label)
}
