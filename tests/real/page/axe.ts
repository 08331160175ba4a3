import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

/**
 * Checks the current page with axe-core: by all rules in the light theme, and by the rules on colours in the
 * dark one, which differs in nothing else.
 */
export async function expectNoViolations(page: Page, state: string): Promise<void> {
  const found = [...(await analyze(page, 'light')), ...(await analyze(page, 'dark'))]
  expect(found, state).toEqual([])
}

async function analyze(page: Page, colorScheme: 'light' | 'dark'): Promise<string[]> {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
  // Pages that only show a few lines have no theme of their own.
  const isThemed = (await page.locator('html[data-theme]').count()) > 0
  if (isThemed) await page.locator(`html[data-theme="${colorScheme}"]`).waitFor()
  // The legacy mode needs no second page; it differs only for frames, which the page does not have.
  const axe = new AxeBuilder({ page }).setLegacyMode()
  if (colorScheme === 'dark') axe.withTags('cat.color')
  else axe.options({ rules: { 'target-size': { enabled: true } } })
  const { violations, passes } = await axe.analyze()
  expect(passes.map(({ id }) => id)).toContain('color-contrast')
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(node => `${colorScheme}: ${id}: ${node.target.join(' ')} ${node.failureSummary ?? ''}`),
  )
}
