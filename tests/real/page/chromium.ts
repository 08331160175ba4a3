import { type Browser, chromium } from 'playwright-core'

/** Without a sandbox, since these tests run as root in containers; and without anything that calls home. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Debian's Chromium, headless, with a profile of its own that goes with it. The caller closes it. */
export function launchChromium(variables: Record<string, string> = {}): Promise<Browser> {
  return chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: FLAGS,
    env: { ...process.env, ...variables },
  })
}
