import { cpSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import express, { type RequestHandler } from 'express'
import type { Page } from 'playwright-core'
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { createPage } from '../../hub/http/page.ts'
import { ensureBuilt, root } from '../support/built.ts'
import { until } from '../support/until.ts'
import { usePages } from './page/pages.ts'

/** Matches what Chromium itself logs when nothing answers. */
const AWAY = /Failed to load resource: net::ERR_CONNECTION_REFUSED|WebSocket connection to '\S+' failed/

let folder: string
let host: Awaited<ReturnType<typeof openHost>>
beforeAll(ensureBuilt)
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'superbloom-page-'))
  cpSync(join(root, 'dist', 'hub', 'web'), join(folder, 'one'), { recursive: true })
  host = await openHost(createPage(join(folder, 'one')))
})
afterEach(async () => {
  await host.close()
  rmSync(folder, { recursive: true, force: true })
})
const pages = usePages()

const READY = `navigator.serviceWorker.ready.then(() => navigator.serviceWorker.controller !== null ||
  new Promise(resolve => navigator.serviceWorker.addEventListener('controllerchange', () => resolve(true))))`
const NAMES = 'caches.keys().then(names => names.join())'
const SIGNED_IN = "localStorage.setItem('superbloom.session', 'sb_no-one')"
const gate = (page: Page) => page.getByText('It opens with its token.')
const version = (page: Page) => page.evaluate<string>('document.documentElement.dataset.version ?? "one"')

test('Chromium finds nothing that keeps the page from being installed, and its icons are what they say', async () => {
  const { page } = await pages.open(host.url)
  await gate(page).waitFor()
  const devtools = await page.context().newCDPSession(page)
  const { installabilityErrors } = await devtools.send('Page.getInstallabilityErrors')
  // A profile of a test is one that keeps nothing, in which nothing is installed.
  expect(installabilityErrors.map(({ errorId }) => errorId)).toEqual(['in-incognito'])
  const { errors, data = '' } = await devtools.send('Page.getAppManifest')
  expect(errors).toEqual([])
  const { icons } = JSON.parse(data) as { icons: { src: string; sizes: string; purpose: string }[] }
  expect(icons.map(({ purpose }) => purpose)).toContain('maskable')
  for (const { src, sizes } of [...icons, { src: './apple-touch-icon.png', sizes: '180x180' }]) {
    if (sizes === 'any') continue
    const size = await page.evaluate<string>(`fetch('${src}').then(answer => answer.blob())
      .then(createImageBitmap).then(({ width, height }) => width + 'x' + height)`)
    expect({ src, size }).toEqual({ src, size: sizes })
  }
})

test('where the hub is gone the page opens all the same and says so; nothing that the hub answers is kept', async () => {
  const { page } = await pages.open(host.url, { mayLog: AWAY })
  await gate(page).waitFor()
  await page.evaluate(READY)
  await page.evaluate("Promise.all(['healthz', 'mcp', 'oauth/callback'].map(path => fetch('./' + path)))")
  const kept = await page.evaluate<string[]>(`caches.keys().then(names => Promise.all(names.map(async name =>
    (await (await caches.open(name)).keys()).map(({ url }) => new URL(url).pathname)))).then(all => all.flat())`)
  const bundled = readdirSync(join(folder, 'one', 'assets')).map(name => `/assets/${name}`)
  expect(kept.sort()).toEqual(
    ['/', ...bundled, '/favicon.svg', '/manifest.webmanifest', '/theme-boot.js'].sort(),
  )
  await page.evaluate(SIGNED_IN)
  await host.close()
  await page.reload()
  await page.getByText('The hub cannot be reached from here.').waitFor()
  const elsewhere = await page.evaluate("fetch('./healthz').then(() => 'answered', () => 'failed')")
  expect(elsewhere).toBe('failed')
})

test('after an update the next load is the new page, and so it stays where the hub is gone', async () => {
  const { page } = await pages.open(host.url, { mayLog: AWAY })
  await gate(page).waitFor()
  await page.evaluate(READY)
  host.serve(createPage(updated('two')))
  await page.reload()
  await gate(page).waitFor()
  expect(await version(page)).toBe('two')
  await page.evaluate('window.stays = true')
  await until('the update is kept', async () => (await page.evaluate(NAMES)) === 'superbloom-shell-two')
  expect(await page.evaluate('window.stays')).toBe(true)
  await host.close()
  await page.reload()
  await gate(page).waitFor()
  expect(await version(page)).toBe('two')
})

test('an open page loads the update by itself, but not while somebody writes', async () => {
  const { page } = await pages.open(host.url)
  await gate(page).waitFor()
  await page.evaluate(READY)
  await page.getByLabel('Token').fill('half a tok')
  host.serve(createPage(updated('two')))
  const update = 'navigator.serviceWorker.getRegistration().then(one => one.update())'
  await page.evaluate(update)
  await until('the update is kept', async () => (await page.evaluate(NAMES)) === 'superbloom-shell-two')
  expect(await version(page)).toBe('one')
  await page.getByLabel('Token').fill('')
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
  await until('the page is the new one', async () => (await version(page).catch(() => '')) === 'two')
})

/** Writes another version of the page, whose script says which it is. */
function updated(name: string): string {
  const to = join(folder, name)
  cpSync(join(folder, 'one'), to, { recursive: true })
  const [script = ''] = readdirSync(join(to, 'assets')).filter(file => /^index-.*\.js$/.test(file))
  const renamed = `index-${name}00000.js`
  renameSync(join(to, 'assets', script), join(to, 'assets', renamed))
  const change = (file: string, edit: (text: string) => string) =>
    writeFileSync(join(to, file), edit(readFileSync(join(to, file), 'utf8')))
  change(`assets/${renamed}`, text => `document.documentElement.dataset.version = '${name}'\n${text}`)
  change('index.html', text => text.replace(script, renamed))
  change('service-worker.js', text =>
    text.replace(script, renamed).replace(/"name":"\w+"/, `"name":"${name}"`),
  )
  return to
}

/** Serves a page at one address, also after it is exchanged. */
async function openHost(first: RequestHandler) {
  let page = first
  const app = express()
  app.use((request, response, next) => page(request, response, next))
  app.use((_request, response) => void response.json({ secret: 'what the hub answers' }))
  const server: Server = createServer(app)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    serve(next: RequestHandler) {
      page = next
    },
    async close() {
      const closed = new Promise(resolve => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}
