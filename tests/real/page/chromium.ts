import { type Browser, chromium } from 'playwright-core'

/**
 * Flags against the sandbox, since these tests run as root in containers, and against requests to the
 * browser's maker.
 */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Starts Debian's Chromium, headless, with a temporary profile. The caller closes it. */
export function launchChromium(variables: Record<string, string> = {}): Promise<Browser> {
  return chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: FLAGS,
    env: { ...process.env, ...variables },
  })
}
