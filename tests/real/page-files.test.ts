import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { request as send } from 'undici'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { root } from '../support/built.ts'
import { crawlPage } from '../support/page-crawl.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { usePages } from './page/pages.ts'
import { startSpeaker } from './page/speaker.ts'
import { answers, connected, linkTo, say } from './page/steps.ts'

const pages = usePages()
let speaker: Awaited<ReturnType<typeof startSpeaker>>
let hub: TestHub
const warnings: Error[] = []
const onWarning = (warning: Error) => void warnings.push(warning)
beforeAll(async () => {
  process.on('warning', onWarning)
  speaker = await startSpeaker()
  hub = await startTestHub({ variables: speaker.variables })
})
afterAll(async () => {
  process.off('warning', onWarning)
  await hub[Symbol.asyncDispose]()
  await speaker[Symbol.asyncDispose]()
})

test('everything that the page imports is there, as JavaScript', async () => {
  const { html, files } = await crawlPage(hub.url)
  const map = JSON.parse(/<script type="importmap">([^<]+)/.exec(html)?.[1] ?? '{}') as {
    imports: Record<string, string>
  }
  const vendored = Object.values(map.imports).map(path => path.slice(1))
  expect(vendored.every(path => path.startsWith('/vendor/'))).toBe(true)
  expect(vendored.length).toBeGreaterThan(3)
  const scripts = new Map(files.filter(({ path }) => path.endsWith('.js')).map(file => [file.path, file]))
  for (const path of vendored) {
    const { status, headers } = await fetch(`${hub.url}${path}`)
    expect({ path, status, type: headers.get('content-type') }).toEqual({
      path,
      status: 200,
      type: expect.stringMatching(/^(text|application)\/javascript\b/),
    })
    expect([...scripts.keys()]).toContain(path)
  }
  expect(files.filter(({ status }) => status !== 200)).toEqual([])
})

test('only the hub’s own code runs: every answer of the page says so', async () => {
  for (const path of ['/', '/app.js', '/vendor/preact.js', '/styles/theme.css']) {
    const { headers } = await fetch(`${hub.url}${path}`)
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy, path).toMatch(/^default-src 'none'; script-src 'self' 'sha256-/)
    expect(policy, path).not.toMatch(/unsafe|\*/)
  }
})

test('tests are not served, and modules are without their types', async () => {
  const web = join(root, 'hub', 'web')
  const sources = readdirSync(web, { recursive: true, encoding: 'utf8' }).filter(path => path.endsWith('.ts'))
  const tests = sources.filter(path => path.endsWith('.test.ts'))
  expect(tests.length).toBeGreaterThan(5)
  for (const path of tests) expect((await fetch(`${hub.url}/${path}`)).status, path).toBe(404)
  const response = await fetch(`${hub.url}/html.ts`)
  expect(response.headers.get('content-type')).toMatch(/^text\/javascript\b/)
  expect(await response.text()).not.toMatch(/\w: string|\binterface\b/)
  const etag = response.headers.get('etag') ?? ''
  const again = await fetch(`${hub.url}/html.ts`, { cache: 'no-cache', headers: { 'If-None-Match': etag } })
  expect({ etag, status: again.status }).toEqual({ etag: expect.stringMatching(/^"/), status: 304 })
  expect(warnings.filter(({ name }) => name === 'ExperimentalWarning')).toEqual([])
})

test('what an agent writes cannot run, load, frame or send anything', async () => {
  await using elsewhere = await startElsewhere()
  const { page } = await pages.open(linkTo(hub))
  const asked: string[] = []
  page.on('request', request => asked.push(request.url()))
  await say(page, 'hello')
  const speech = await speaker.speech(1)
  const secret = `${elsewhere.url}/?bad=secret`
  speech.says('Begin <script>window.bad = 1</script> <img src="/bad.png" onerror="window.bad = 2">\n\n')
  speech.says('[link](javascript:window.bad=3) <iframe src="/bad.html"></iframe>\n\n')
  speech.says('<b onclick="window.bad = 4" style="position:fixed">bold</b> <a href="/x" id="app">x</a>\n\n')
  speech.says(
    `![a](${secret}) [![b](${secret})](${secret}) ![c][1] <img srcset="${secret}">\n\n[1]: ${secret}\n\n`,
  )
  speech.says(
    `<style>@import "${secret}"</style> <link rel="prefetch" href="${secret}"> <video poster="${secret}">\n\n`,
  )
  speech.says(
    `<svg><image href="${secret}"/></svg> <a ping="${secret}" href="${secret}">d</a> <base href="${secret}">\n\n`,
  )
  speech.says(
    `<form action="${secret}"><input autofocus></form> <meta http-equiv="refresh" content="0;${secret}"> end`,
  )
  speech.ends()
  const answer = answers(page).filter({ hasText: 'end' })
  await answer.waitFor()
  const forbidden =
    'script, img, iframe, style, link, video, svg, image, base, form, input, meta, [onclick], [style], [id], [ping], a[href^="javascript"]'
  expect(await answer.locator(forbidden).count()).toBe(0)
  expect(await answer.locator(`a[href="${secret}"]`).count()).toBeGreaterThan(2)
  expect(await page.evaluate('window.bad')).toBe(undefined)
  expect(asked.filter(url => url.includes('bad'))).toEqual([])
  expect(elsewhere.requests).toEqual([])
})

test('the page reaches its own origin and no other, whatever runs in it', async () => {
  await using elsewhere = await startElsewhere()
  const { page } = await pages.open(linkTo(hub), { mayLog: /Content Security Policy|ERR_BLOCKED_BY_CSP/ })
  await connected(page).waitFor()
  const refused = await page.evaluate<string[]>(`(async () => {
    const refused = []
    addEventListener('securitypolicyviolation', ({ effectiveDirective }) => refused.push(effectiveDirective))
    const url = ${JSON.stringify(elsewhere.url)}
    const add = (name, fields) => document.body.append(Object.assign(document.createElement(name), fields))
    const form = Object.assign(document.createElement('form'), { action: url })
    await fetch(url).catch(() => 0)
    new WebSocket(url.replace('http', 'ws'))
    navigator.sendBeacon(url)
    add('img', { src: url })
    add('script', { src: url })
    add('iframe', { src: url })
    add('link', { rel: 'stylesheet', href: url })
    add('style', { textContent: 'body { color: red }' })
    add('video', { src: url })
    add('object', { data: url })
    add('base', { href: url })
    await new FontFace('x', 'url(' + url + ')').load().catch(() => 0)
    document.body.append(form)
    form.submit()
    while (new Set(refused).size < 10) await new Promise(resolve => addEventListener('securitypolicyviolation', resolve, { once: true }))
    return [...new Set(refused)].sort()
  })()`)
  expect(refused).toEqual([
    'base-uri',
    'connect-src',
    'font-src',
    'form-action',
    'frame-src',
    'img-src',
    'media-src',
    'object-src',
    'script-src-elem',
    'style-src-elem',
  ])
  expect(elsewhere.requests).toEqual([])
})

test('the policy names the address by which the page was asked for, and no other', async () => {
  const { port } = new URL(hub.url)
  const response = await send(hub.url, { headers: { host: `localhost:${port}` } })
  await response.body.dump()
  expect(String(response.headers['content-security-policy'])).toContain(
    `; connect-src 'self' ws://localhost:${port} wss://localhost:${port};`,
  )
  expect(response.headers['x-dns-prefetch-control']).toBe('off')
})

/** Starts a server at another origin, and records what it is asked for. */
async function startElsewhere() {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    response.end()
  })
  server.on('upgrade', (request, socket) => {
    requests.push(`upgrade ${request.url}`)
    socket.destroy()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async [Symbol.asyncDispose]() {
      const closed = new Promise(resolve => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}
