import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import Database from 'better-sqlite3'
import type { Browser, Page } from 'playwright-core'
import { openStore } from '../../hub/store/open.ts'
import { launchChromium } from '../real/page/chromium.ts'
import { linkTo, messageBox } from '../real/page/steps.ts'
import { openHubProcess } from './hub-process.ts'
import { cpuOf, median, memoryOf, round } from './start/usage.ts'

const MESSAGES = 10_000
const TILES = 40
const LOADS = 5
const HOUR_MS = 3_600_000
/** A phone with a weak signal: bytes a second, milliseconds, and how many times slower its processor is. */
const PHONE = { down: 1_600_000 / 8, up: 750_000 / 8, latency: 150, slower: 4 }
const PHONE_SIZE = { width: 390, height: 844 }
/** Milliseconds from which on a task delays what a person does. */
const LONG_TASK = `window.longTasks = []
new PerformanceObserver(list => window.longTasks.push(...list.getEntries().map(entry => entry.duration)))
  .observe({ type: 'longtask', buffered: true })`

type HubProcess = Awaited<ReturnType<typeof openHubProcess>>

/** Measures the page in Debian's Chromium: its loads on a phone, a long conversation, and an hour of the house. */
export async function page(): Promise<Record<string, number>> {
  await using hub = await openHubProcess({ agents: ['homelab'], config: withTiles(), prepare: fill })
  const browser = await launchChromium()
  try {
    return {
      ...(await measureLoads(browser, hub)),
      ...(await measureScrolling(browser, hub)),
      ...(await measureHouse(browser, hub)),
    }
  } finally {
    await browser.close()
  }
}

function withTiles(): string {
  const tiles = Array.from({ length: TILES }, (_, index) => ({
    tool: index % 2 ? 'get_processes' : 'get_system_metrics',
    title: `Tile ${index}`,
  }))
  return JSON.stringify({ dashboard: { tiles } })
}

/** Writes one long conversation. */
async function fill(data: string): Promise<void> {
  await (await openStore(data))[Symbol.asyncDispose]()
  const database = new Database(join(data, 'superbloom.db'))
  try {
    const add = database.prepare(
      'insert into messages (conversation_id, seq, id, kind, author, text, at) values (?, ?, ?, ?, ?, ?, ?)',
    )
    database.transaction(() => {
      const created = Date.now() - MESSAGES * 60_000
      database
        .prepare('insert into conversations (id, last_seq, created_at) values (?, ?, ?)')
        .run('homelab', MESSAGES, created)
      for (let seq = 1; seq <= MESSAGES; seq++) {
        const asks = seq % 2 === 1
        const text = asks
          ? `What uses disk ${seq}?`
          : `Disk ${seq} holds **films**:\n\n- one\n- two\n\n\`df -h\``
        const at = created + seq * 60_000
        add.run('homelab', seq, `msg_${seq}`, asks ? 'user' : 'agent', asks ? 'owner' : 'homelab', text, at)
      }
    })()
  } finally {
    database.close()
  }
}

async function openPage(browser: Browser, hub: HubProcess, size = { width: 1440, height: 900 }) {
  const context = await browser.newContext({ viewport: size, serviceWorkers: 'block' })
  const opened = await context.newPage()
  await opened.addInitScript(LONG_TASK)
  return { page: opened, address: linkTo(hub), close: () => context.close() }
}

/** Loads the page for the first time and again, until its message box takes a text. */
async function measureLoads(browser: Browser, hub: HubProcess): Promise<Record<string, number>> {
  const times: Record<'first' | 'again', number[]> = { first: [], again: [] }
  let weight = { requests: 0, bytes: 0 }
  for (let count = 0; count < LOADS; count++) {
    const { page, address, close } = await openPage(browser, hub, PHONE_SIZE)
    await slowDown(page)
    const began = performance.now()
    await page.goto(address)
    await messageBox(page).fill('x')
    times.first.push(performance.now() - began)
    weight = await page.evaluate<typeof weight>(`(() => {
      const all = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
      return { requests: all.length, bytes: all.reduce((sum, one) => sum + one.transferSize, 0) }
    })()`)
    const reloaded = performance.now()
    await page.reload()
    await messageBox(page).fill('x')
    times.again.push(performance.now() - reloaded)
    await close()
  }
  return {
    'first load on a phone, until a text is taken, median, ms': round(median(times.first), 0),
    'a reload, median, ms': round(median(times.again), 0),
    'first load, requests (aim under 15)': weight.requests,
    'first load, kB (aim under 150)': round(weight.bytes / 1000, 0),
  }
}

async function slowDown(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page)
  const { down, up, latency, slower } = PHONE
  await session.send('Network.enable')
  await session.send('Network.emulateNetworkConditions', {
    offline: false,
    downloadThroughput: down,
    uploadThroughput: up,
    latency,
  })
  await session.send('Emulation.setCPUThrottlingRate', { rate: slower })
}

/** Loads a long conversation to its first message. */
async function measureScrolling(browser: Browser, hub: HubProcess): Promise<Record<string, number>> {
  const { page, address, close } = await openPage(browser, hub)
  await page.goto(address)
  await page.locator(`[data-seq="${MESSAGES}"]`).waitFor()
  await page.evaluate('window.longTasks.length = 0')
  const more = page.getByRole('button', { name: 'Load earlier messages' })
  const first = page.locator('[data-seq="1"]')
  const began = performance.now()
  while (!(await first.count())) {
    await more.click()
    await page.mouse.wheel(0, -100_000)
  }
  const took = performance.now() - began
  const tasks = await page.evaluate<number[]>('window.longTasks')
  await close()
  return {
    'through 10,000 messages to the first, s': round(took / 1000, 1),
    'tasks over 50 ms meanwhile': tasks.length,
    'the longest, ms': round(Math.max(0, ...tasks), 0),
  }
}

/** Shows the house with its tiles for an hour. */
async function measureHouse(browser: Browser, hub: HubProcess): Promise<Record<string, number>> {
  const { page, address, close } = await openPage(browser, hub)
  await page.goto(address)
  await messageBox(page).waitFor()
  await page.goto(`${hub.url}/#p=house/glance`)
  await page.getByRole('heading', { name: `Tile ${TILES - 1}` }).waitFor()
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable')
  const read = async () => {
    await session.send('HeapProfiler.collectGarbage')
    const { metrics } = await session.send('Performance.getMetrics')
    const of = (name: string) => metrics.find(metric => metric.name === name)?.value ?? Number.NaN
    return {
      at: performance.now(),
      hub: cpuOf(hub.pid),
      rss: memoryOf(hub.pid).rss,
      page: of('TaskDuration') * 1000,
      heap: of('JSHeapUsedSize') / 1e6,
      nodes: of('Nodes'),
    }
  }
  const before = await read()
  await pause(HOUR_MS)
  const after = await read()
  await close()
  const share = (cpu: number) => round((cpu * 100) / (after.at - before.at), 2)
  return {
    'an hour of 40 tiles: hub and server, % of a core': share(after.hub - before.hub),
    'the page, % of a core': share(after.page - before.page),
    'hub, MiB before': round(before.rss, 0),
    'hub, MiB after': round(after.rss, 0),
    'heap of the page, MB before': round(before.heap, 1),
    'heap of the page, MB after': round(after.heap, 1),
    'nodes of the page, more after the hour': after.nodes - before.nodes,
  }
}
