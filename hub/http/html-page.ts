import { hash } from 'node:crypto'

/** Returns text as HTML that shows it. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
}

const STYLE =
  'body{font:1rem/1.5 system-ui,sans-serif;max-width:36rem;margin:10vh auto;padding:0 1rem;color-scheme:light dark}dt{font-weight:600}pre{overflow:auto}dd{margin:0 0 .5rem;overflow:hidden;overflow-wrap:anywhere}input,button{font:inherit;padding:.4rem .8rem;margin:.5rem .5rem .5rem 0}[hidden]{display:none!important}label{display:block}[role=alert]{color:#c33}'

/** What the policy of a page has to allow for its style. */
export const STYLE_SOURCE = `'sha256-${hash('sha256', STYLE, 'base64')}'`

/** The policy of a page that only shows text. */
export const TEXT_POLICY = `default-src 'none'; style-src ${STYLE_SOURCE}; form-action 'none'; base-uri 'none'; frame-ancestors 'none'`

/** Returns a page of a few lines for people; `body` is HTML. */
export function toHtmlPage(title: string, body: string): string {
  const shown = escapeHtml(title)
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${shown}</title><style>${STYLE}</style><h1>${shown}</h1>${body}</html>\n`
}
