import type { Page } from 'playwright-core'

/** More tab stops than the page has. */
const MOST_STOPS = 60

interface Focused {
  name: string
  isSeen: boolean
}

/**
 * Moves to the element with this accessible name, by Tab alone (or Shift+Tab). Throws if it is not reached,
 * or if a stop on the way shows no focus.
 */
export async function tabTo(
  page: Page,
  name: string | RegExp,
  key: 'Tab' | 'Shift+Tab' = 'Tab',
): Promise<void> {
  const met: string[] = []
  for (let stop = 0; stop < MOST_STOPS; stop++) {
    await page.keyboard.press(key)
    const focused = await readFocus(page)
    met.push(focused.name)
    if (!focused.isSeen) throw new Error(`The focus cannot be seen on "${focused.name}"`)
    if (typeof name === 'string' ? focused.name === name : name.test(focused.name)) return
  }
  throw new Error(`"${name}" is not reached by ${key}; met: ${met.join(' | ')}`)
}

/** Reads the focused element: its name as far as these tests need it, and whether a person sees the focus. */
export function readFocus(page: Page): Promise<Focused> {
  return page.evaluate<Focused>(`(() => {
    const one = document.activeElement
    const label = one.labels?.[0]?.textContent
    const name = (one.getAttribute('aria-label') ?? label ?? one.textContent).replaceAll(/\\s+/g, ' ').trim()
    const box = one.getBoundingClientRect()
    const style = getComputedStyle(one)
    const isInView = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth
    const isSeen = one === document.body || (isInView && style.outlineStyle !== 'none' && style.outlineWidth !== '0px')
    return { name: one === document.body ? 'the page' : name, isSeen }
  })()`)
}
