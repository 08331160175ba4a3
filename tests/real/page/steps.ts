import type { Page } from 'playwright-core'

/** Returns the address that a terminal prints, which contains the token. */
export function linkTo({ url, token }: { url: string; token: string }): string {
  return `${url}/#token=${token}`
}

export const messageBox = (page: Page) => page.getByRole('textbox', { name: 'Message to homelab' })
export const log = (page: Page) => page.getByRole('log')
/** Returns the agent's complete texts, without one that still streams. */
export const answers = (page: Page) => log(page).locator('.message-agent .md')
export const connected = (page: Page) => page.locator('.top-bar').getByText('Connected')
export const notConnected = (page: Page) => page.getByText('What you write now is kept and sent then.')

/** Writes the text into the message box and sends it. */
export async function say(page: Page, text: string): Promise<void> {
  await messageBox(page).fill(text)
  await messageBox(page).press('Enter')
}

export interface Shown {
  kind: 'user' | 'agent'
  text: string
}

/** Returns every message in the conversation, also undelivered and streaming ones. */
export function shownMessages(page: Page): Promise<Shown[]> {
  return page.evaluate<Shown[]>(`[...document.querySelectorAll('.message')].map(message => ({
    kind: message.matches('.message-user') ? 'user' : 'agent',
    text: message.querySelector('.bubble, .md').innerText.trim(),
  }))`)
}
