import { hash } from 'node:crypto'

/** Returns text as HTML that shows it. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
}

const STYLE = [
  ':root{color-scheme:light dark;background:Canvas;color:CanvasText}',
  'body{font:1rem/1.5 system-ui,sans-serif;max-width:36rem;margin:10vh auto;padding:0 1rem}',
  'h1{line-height:1.2}label{display:block}dt{font-weight:600}',
  'dd{margin:0 0 .5rem;overflow:hidden;overflow-wrap:anywhere}',
  'pre{white-space:pre-wrap;overflow-wrap:anywhere}',
  'input,button{font:inherit;padding:.4rem .8rem;margin:.5rem .5rem .5rem 0}',
  'button{background:light-dark(#eee,#333);color:CanvasText;border:1px solid}',
  '[hidden]{display:none!important}[role=alert]{color:light-dark(#8c1d18,#ffb4ab)}',
].join('')

/** What the policy of a page has to allow for its style. */
export const STYLE_SOURCE = `'sha256-${hash('sha256', STYLE, 'base64')}'`

/** The policy of a page that only shows text. */
export const TEXT_POLICY = `default-src 'none'; style-src ${STYLE_SOURCE}; form-action 'none'; base-uri 'none'; frame-ancestors 'none'`

/** Returns a page of a few lines for people; `body` is HTML. */
export function toHtmlPage(title: string, body: string): string {
  const shown = escapeHtml(title)
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>${shown}</title><style>${STYLE}</style><main><h1>${shown}</h1>${body}</main></html>\n`
}
