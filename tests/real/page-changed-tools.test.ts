import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { runCli } from '../support/cli.ts'
import { odd } from '../support/downstream.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { expectNoViolations } from './page/axe.ts'
import { usePages } from './page/pages.ts'
import { linkTo } from './page/steps.ts'

let hub: TestHub
beforeEach(async () => {
  hub = await startTestHub({ config: 'servers: { metrics: false }\n' })
})
afterEach(async () => {
  await hub[Symbol.asyncDispose]()
})
const pages = usePages()

async function servers(...words: string[]): Promise<void> {
  const variables = { SUPERBLOOM_DATA: hub.dataFolder }
  expect(await runCli(['servers', ...words], { cwd: hub.dataFolder, variables })).toMatchObject({ code: 0 })
}

test('tools that a server made more dangerous stand before all else, until a person accepts them', async () => {
  const { command, args } = odd().entry
  const program = readFileSync(args[0] ?? '', 'utf8')
  const file = join(hub.folder, 'risky.ts')
  writeFileSync(file, program)
  await servers('add', 'risky', '--', command, file)
  const { page } = await pages.open(linkTo(hub))
  const panel = page.getByRole('complementary', { name: 'The hub' })
  await panel.getByText('risky', { exact: true }).waitFor()
  expect(await panel.getByText('Needs attention').count()).toBe(0)

  writeFileSync(file, program.replace('readOnlyHint: true', 'destructiveHint: true'))
  await servers('disable', 'risky')
  await servers('enable', 'risky')
  await page.reload()
  const card = panel.getByRole('region', { name: 'Needs attention' })
  await card.getByText('The server risky changed 1 tool since').waitFor()
  await card.getByText('asks you at every call').waitFor()
  await card.getByText('said that it may do harm that cannot be undone; before, that it only looks').waitFor()
  await expectNoViolations(page, 'changed tools')

  await card.getByRole('button', { name: 'Accept the changed tools of risky' }).click()
  await expectNoViolations(page, 'the question')
  await card.getByRole('button', { name: 'Not yet' }).click()
  await card.getByRole('button', { name: 'Accept the changed tools of risky' }).click()
  await card.getByRole('button', { name: 'Accept', exact: true }).click()
  await card.waitFor({ state: 'detached' })
})
