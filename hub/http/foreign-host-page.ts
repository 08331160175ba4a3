import type { Response } from 'express'
import type { ForeignHost } from './doors.ts'
import { escapeHtml, TEXT_POLICY, toHtmlPage } from './html-page.ts'

/** Tells a person whose browser came under a foreign name what to set, and nothing of the hub. */
export function sendForeignHostPage(response: Response, { host, hostname, status }: ForeignHost): void {
  const line = hostname === '' ? '' : toSettings(`${response.req.protocol}://${host}`, hostname)
  const why = `<p>A hub answers only under the names that it was given, so that no foreign page can talk with it. <b>${escapeHtml(host)}</b> is none of them.</p>`
  response
    .status(status)
    .set({ 'Content-Security-Policy': TEXT_POLICY, 'Cache-Control': 'no-store' })
    .type('html')
    .send(toHtmlPage('The hub does not know this address', `${why}${line}`))
}

function toSettings(address: string, hostname: string): string {
  const hosts = escapeHtml(`hosts: [${JSON.stringify(hostname)}]`)
  const url = escapeHtml(`SUPERBLOOM_PUBLIC_URL=${address}`)
  return `<p>If the hub is yours and people are to use it here, write this into <code>superbloom.yaml</code>, or add the name where a line <code>hosts</code> stands already. It holds within two seconds; then load this page again.</p><pre><code>${hosts}</code></pre><p>Where links of the hub are to lead here too, start the hub with this variable instead, with <code>https</code> behind a proxy that has a certificate:</p><pre><code>${url}</code></pre>`
}
