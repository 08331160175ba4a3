import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { launchChromium } from '../tests/real/page/chromium.ts'
import { answers, connected, linkTo, log, say } from '../tests/real/page/steps.ts'
import type { TestHub } from '../tests/support/test-hub.ts'
import { EVENING, openPictureHouse } from './picture-house.ts'

/* This script makes the pictures of docs/pictures, all of them or those that are named:
   node bin/node.js scripts/screenshot.ts [NAME …]
   It needs Debian's chromium, pngquant, fonts-inter, fonts-urw-base35 and fonts-liberation. */

const root = join(import.meta.dirname, '..')
const DESKTOP = { width: 1280, height: 800 }
const PHONE = { width: 390, height: 844 }

interface Picture {
  name: string
  size: typeof DESKTOP
  scheme?: 'light' | 'dark'
  /** The place's section that the address names; without it the chat. */
  place?: string
  /** Waits until everything is there, after the last click. */
  ready: (page: Page) => Promise<unknown>
}

const sees = (words: string) => (page: Page) =>
  page.getByText(words).filter({ visible: true }).first().waitFor()
const house = { place: 'house/glance', ready: sees('Paper on Friday') }
const settings = (section: string, words: string) => ({ place: `settings/${section}`, ready: sees(words) })

/** Pictures taken once the first message is answered. */
const CALM: readonly Picture[] = [
  { name: 'chat', size: DESKTOP, ready: sees('Resume the downloads') },
  { name: 'chat-phone', size: PHONE, scheme: 'dark', ready: sees('I paused them') },
  { name: 'house', size: DESKTOP, ...house },
  { name: 'house-phone', size: PHONE, scheme: 'dark', ...house },
  { name: 'setup', size: DESKTOP, ...settings('setup', 'A model that thinks') },
  { name: 'setup-phone', size: PHONE, ...settings('setup', 'A model that thinks') },
  { name: 'servers', size: DESKTOP, ...settings('servers', 'media') },
  { name: 'agents', size: DESKTOP, scheme: 'dark', place: 'settings/agents', ready: openAgent },
  { name: 'people-phone', size: PHONE, ...settings('people', 'Add a person') },
  { name: 'notifications-phone', size: PHONE, ...settings('notifications', 'This device') },
]
/** Pictures taken while a restart waits for a yes. */
const WAITING: readonly Picture[] = [
  { name: 'approval', size: DESKTOP, scheme: 'dark', ready: sees('asks for a yes') },
  { name: 'approval-phone', size: PHONE, ready: sees('asks for a yes') },
  { name: 'rules', size: DESKTOP, ...settings('rules', 'it only looks') },
]

async function openAgent(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Open/ }).first().click()
  await page.getByText('Retire').first().waitFor()
  await page.getByText('Reading…').waitFor({ state: 'hidden' })
}

/** Debian's browsers use DejaVu Sans where a page asks for the system's own font. */
const FONTS = `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><include>/etc/fonts/fonts.conf</include>
${['system-ui', 'sans-serif', 'sans'].map(toPreference).join('\n')}
<selectfont><rejectfont><glob>/usr/share/fonts/X11/Type1/*</glob><glob>/usr/share/fonts/type1/*</glob></rejectfont></selectfont>
</fontconfig>
`

function toPreference(family: string): string {
  const preferred = '<string>Inter</string><string>Liberation Sans</string>'
  return `<match target="pattern"><test name="family" qual="any"><string>${family}</string></test>
<edit name="family" mode="prepend" binding="strong">${preferred}</edit></match>`
}

type Look = Pick<Picture, 'size' | 'scheme'> & { state?: Awaited<ReturnType<BrowserContext['storageState']>> }

async function openContext(
  browser: Browser,
  { size, scheme = 'light', state }: Look,
): Promise<BrowserContext> {
  const isPhone = size === PHONE
  const context = await browser.newContext({
    viewport: size,
    colorScheme: scheme,
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    hasTouch: isPhone,
    isMobile: isPhone,
    deviceScaleFactor: isPhone ? 2 : 1,
    ...(state ? { storageState: state } : {}),
  })
  // The clock stands still, so that "2 minutes ago" is the same in every run.
  await context.clock.setFixedTime(EVENING)
  return context
}

async function take(
  browser: Browser,
  hub: TestHub,
  { name, place, ready, ...look }: Picture & Look,
): Promise<void> {
  const context = await openContext(browser, look)
  const page = await context.newPage()
  await page.goto(place ? `${hub.url}/#p=${place}` : hub.url)
  const panel = page.getByRole('button', { name: 'Close', exact: true })
  if (place && look.size === DESKTOP) await panel.click()
  await ready(page)
  await page.evaluate('document.fonts.ready')
  await page.mouse.move(0, 0)
  await hideMachine(page, hub)
  const path = join(root, 'docs', 'pictures', `${name}.png`)
  await page.screenshot({ path, animations: 'disabled', caret: 'hide' })
  execFileSync('pngquant', ['--force', '--strip', '--speed', '1', '--ext', '.png', '96', path])
  await context.close()
  console.log(path)
}

/** Replaces paths and addresses of this machine by those of any other, and throws if one is left. */
async function hideMachine(page: Page, { url, folder }: TestHub): Promise<void> {
  const words = {
    [process.execPath]: '/usr/bin/node',
    [root]: '/srv/superbloom',
    [folder]: '/srv/superbloom',
    [url]: 'http://127.0.0.1:8420',
  }
  const left = await page.evaluate<string>(`(() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node; node = walker.nextNode())
      for (const [from, to] of Object.entries(${JSON.stringify(words)})) node.data = node.data.replaceAll(from, to)
    return document.body.innerText
  })()`)
  const found = [hostname(), tmpdir(), `:${new URL(url).port}`].filter(word => left.includes(word))
  if (found.length > 0) throw new Error(`The picture would show ${found.join(', ')}`)
}

async function main(): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const scratch = stack.adopt(mkdtempSync(join(tmpdir(), 'superbloom-fonts-')), path =>
    rmSync(path, { recursive: true }),
  )
  const fonts = join(scratch, 'fonts.conf')
  writeFileSync(fonts, FONTS)
  const hub = stack.use(await openPictureHouse())
  const browser = stack.use(await launchChromium({ FONTCONFIG_FILE: fonts }))
  const context = await openContext(browser, { size: DESKTOP })
  const talk = await context.newPage()
  await talk.goto(linkTo(hub))
  await connected(talk).waitFor()
  const named = process.argv.slice(2)
  const takeAll = async (pictures: readonly Picture[]) => {
    const state = await context.storageState()
    for (const picture of pictures)
      if (named.length === 0 || named.includes(picture.name)) await take(browser, hub, { ...picture, state })
  }
  await say(talk, 'The game server is slow')
  await answers(talk).filter({ hasText: 'I paused them' }).waitFor()
  await takeAll(CALM)
  await say(talk, 'Please restart the game server')
  await log(talk).getByText('asks for a yes').waitFor()
  await answers(talk).filter({ hasText: 'your yes first' }).waitFor()
  await takeAll(WAITING)
}

await main()
