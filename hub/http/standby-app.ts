import type { RequestListener } from 'node:http'
import express, { type Response } from 'express'
import { secure } from '../core/answer-headers.ts'
import { escapeHtml, TEXT_POLICY, toHtmlPage } from './html-page.ts'

/** Seconds after which a client may ask again: the next hub leads soon after the last one ended. */
const RETRY_AFTER_S = 5

/**
 * Answers for a hub that waits to lead: it is alive, and whatever else is asked, it says which hub leads. `leader`
 * returns that hub's address; undefined while it is not known.
 */
export function createStandbyApp(leader: () => string | undefined): RequestListener {
  const app = express()
  app.disable('x-powered-by')
  app.use((_request, response, next) => {
    secure(response)
    next()
  })
  app.get('/healthz', (_request, response) => void response.json({ status: 'standby' }))
  app.use((request, response) => {
    response.status(503).set({ 'Retry-After': String(RETRY_AFTER_S), 'Cache-Control': 'no-store' })
    const url = leader()
    if (request.accepts(['json', 'html']) === 'html') sendPage(response, url)
    else response.json({ error: { code: 'unavailable', message: describe(url), leader: url } })
  })
  return app
}

function describe(url: string | undefined): string {
  return `This hub waits, and takes over if the one that leads ends.${url === undefined ? '' : ` That one is at ${url}`}`
}

function sendPage(response: Response, url: string | undefined): void {
  const link = url === undefined ? '' : ` It is at <a href="${escapeHtml(url)}">${escapeHtml(url)}</a>.`
  response
    .set('Content-Security-Policy', TEXT_POLICY)
    .type('html')
    .send(
      toHtmlPage(
        'Another hub leads',
        `<p>This hub waits, and takes over if the one that leads ends.${link}</p>`,
      ),
    )
}
