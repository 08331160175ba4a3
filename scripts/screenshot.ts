import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { launchChromium } from '../tests/real/page/chromium.ts'
import { answers, linkTo, say } from '../tests/real/page/steps.ts'
import { startTestHub } from '../tests/support/test-hub.ts'

/* This script makes docs/page.png, the README's picture, of a real hub with the built-in commands and the
   metrics server. It needs Debian's chromium; fonts-inter and fonts-urw-base35 make it look as on most
   desktops. */

const root = join(import.meta.dirname, '..')
/** Milliseconds until the machine is at rest, as in the picture: the start keeps the processor busy. */
const REST_MS = 8_000
/** The config hides whose machine it is. */
const CONFIG = 'servers: { metrics: { env: { METRICS_HOST_NAME: homelab, METRICS_INTERVAL: 2s } } }\n'

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

async function main(): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const folder = stack.adopt(mkdtempSync(join(tmpdir(), 'superbloom-picture-')), path =>
    rmSync(path, { recursive: true }),
  )
  const fonts = join(folder, 'fonts.conf')
  writeFileSync(fonts, FONTS)
  const agent = readFileSync(join(root, 'agents', 'homelab.md'), 'utf8')
  const hub = stack.use(await startTestHub({ config: CONFIG, agents: { homelab: agent } }))
  const browser = stack.use(await launchChromium({ FONTCONFIG_FILE: fonts }))
  const page = await browser.newPage({
    viewport: { width: 1280, height: 800 },
    colorScheme: 'light',
    locale: 'en-GB',
  })
  await page.goto(linkTo(hub))
  await page.getByRole('region', { name: 'Servers' }).getByText('ready').waitFor()
  await setTimeout(REST_MS)

  await say(page, 'Hello!')
  await answers(page).filter({ hasText: 'no language model' }).waitFor()
  await say(page, 'How is this machine doing?')
  await answers(page).filter({ hasText: 'Memory' }).waitFor()
  await say(page, 'Remind me in 2 hours to check the disks')
  await answers(page)
    .filter({ hasText: /^I'll remind you/ })
    .waitFor()
  await page.getByRole('region', { name: 'Scheduled' }).getByText('check the disks').waitFor()
  await page.getByRole('region', { name: 'Agents' }).getByText('asleep').waitFor()
  const path = join(root, 'docs', 'page.png')
  await page.screenshot({ path, animations: 'disabled', caret: 'hide' })
  console.log(path)
}

await main()
