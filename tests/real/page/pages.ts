import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import type { ClientFrame, HubFrame } from '../../../schemas/chat.ts'
import { untilNoChildren } from '../../support/processes.ts'
import { createRecord } from '../../support/until.ts'
import { launchChromium } from './chromium.ts'

/** Milliseconds: about ten times the aim of the page's slowest step. */
const DEADLINE = 20_000

export interface OpenOptions {
  width?: number
  height?: number
  /** True for touch instead of a mouse. */
  touch?: boolean
  /** Matches the browser's own logs of a network that this test breaks; any other log fails the test. */
  mayLog?: RegExp
}

export interface OpenPage {
  readonly page: Page
  /** Frames of its WebSockets, in order. */
  readonly received: ReturnType<typeof createRecord<HubFrame>>
  readonly sent: ReturnType<typeof createRecord<ClientFrame>>
}

/**
 * Opens one browser for a file's tests; each page has its own profile. After each test the pages are closed,
 * and none may have logged an error or a warning. Call it after a file's own hooks: hooks after a test run in
 * reverse order, and a page that outlives its hub logs errors.
 */
export function usePages(): { open(url: string, options?: OpenOptions): Promise<OpenPage> } {
  let browser: Browser
  const contexts: BrowserContext[] = []
  const complaints: string[] = []

  beforeAll(async () => {
    browser = await launchChromium()
  })
  afterEach(async () => {
    await Promise.all(contexts.splice(0).map(context => context.close()))
    expect(complaints.splice(0), 'the page logged').toEqual([])
  })
  afterAll(async () => {
    await browser.close()
    await untilNoChildren()
  })

  return {
    async open(url, { width = 1280, height = 800, touch = false, mayLog } = {}) {
      const context = await browser.newContext({
        viewport: { width, height },
        hasTouch: touch,
        isMobile: touch,
        colorScheme: 'light',
      })
      contexts.push(context)
      context.setDefaultTimeout(DEADLINE)
      complain(context, text => mayLog?.test(text) || complaints.push(text))
      const page = await context.newPage()
      const frames = record(page)
      await page.goto(url)
      return { page, ...frames }
    },
  }
}

function complain(context: BrowserContext, add: (text: string) => void): void {
  context.on('console', message => {
    if (['error', 'warning'].includes(message.type())) add(`${message.type()}: ${message.text()}`)
  })
  context.on('weberror', error => add(`thrown: ${error.error().stack ?? error.error().message}`))
}

function record(page: Page): Omit<OpenPage, 'page'> {
  const received = createRecord<HubFrame>()
  const sent = createRecord<ClientFrame>()
  page.on('websocket', socket => {
    socket.on('framereceived', ({ payload }) => received.add(JSON.parse(String(payload)) as HubFrame))
    socket.on('framesent', ({ payload }) => sent.add(JSON.parse(String(payload)) as ClientFrame))
  })
  return { received, sent }
}
