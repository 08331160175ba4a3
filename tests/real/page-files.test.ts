import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { root } from '../support/built.ts'
import { crawlPage } from '../support/page-crawl.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { usePages } from './page/pages.ts'
import { startSpeaker } from './page/speaker.ts'
import { answers, linkTo, say } from './page/steps.ts'

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

test('what an agent writes cannot run, load or frame anything', async () => {
  const { page } = await pages.open(linkTo(hub))
  const asked: string[] = []
  page.on('request', request => asked.push(request.url()))
  await say(page, 'hello')
  const speech = await speaker.speech(1)
  speech.says('Begin <script>window.bad = 1</script> <img src="/bad.png" onerror="window.bad = 2">\n\n')
  speech.says('[link](javascript:window.bad=3) <iframe src="/bad.html"></iframe>\n\n')
  speech.says('<b onclick="window.bad = 4" style="position:fixed">bold</b> <a href="/x" id="app">x</a> end')
  speech.ends()
  const answer = answers(page).filter({ hasText: 'end' })
  await answer.waitFor()
  expect(
    await answer.locator('script, img, iframe, [onclick], [style], [id], a[href^="javascript"]').count(),
  ).toBe(0)
  expect(await page.evaluate('window.bad')).toBe(undefined)
  expect(asked.filter(url => url.includes('bad'))).toEqual([])
})
