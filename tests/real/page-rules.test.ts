import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Configured, recorder, untilReady } from '../support/downstream.ts'
import { say as answer, call, createScriptedModel } from '../support/scripted-model.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { expectNoViolations } from './page/axe.ts'
import { usePages } from './page/pages.ts'
import { linkTo, messageBox, say } from './page/steps.ts'

const pages = usePages()
const model = createScriptedModel([])
let hub: TestHub
let rec: Configured
beforeAll(async () => {
  rec = recorder()
  hub = await startTestHub({
    config: JSON.stringify({
      servers: { metrics: false, rec: rec.entry },
      webhooks: { radarr: { secret: 'never-shown-never-shown' } },
      tools: { approve: ['rec__count'] },
    }),
    overrides: { model },
  })
  await untilReady(hub, 'rec')
})
afterAll(async () => {
  await hub[Symbol.asyncDispose]()
  rec[Symbol.dispose]()
})

async function open(section: string, options = {}): Promise<Page> {
  const { page } = await pages.open(linkTo(hub), options)
  await messageBox(page).waitFor()
  await page.goto(`${page.url().split('#')[0]}#p=settings/${section}`)
  return page
}

test('a yes that holds for an hour is given and revoked, and the policy says why', async () => {
  const { page } = await pages.open(linkTo(hub))
  model.script(call([['rec__count', {}]]), answer('It waits.'), answer('Done.'))
  await say(page, 'count')
  await page.getByRole('button', { name: 'Settings' }).click()
  await page.getByRole('button', { name: 'Rules' }).click()
  const approvals = page.getByRole('region', { name: 'Approvals' })
  await approvals.getByLabel('A yes holds').selectOption('1h')
  await expectNoViolations(page, 'rules with an open approval')
  await approvals.getByRole('button', { name: 'Approve' }).click()
  const allowances = page.getByRole('region', { name: 'Allowances' })
  await allowances.getByText('whenever a person asks for it').waitFor()
  await approvals.getByText('What was answered').waitFor()

  const policy = page.getByRole('region', { name: 'Who may do what' })
  await policy.getByRole('searchbox').fill('count')
  await policy.getByText('a person allowed it until').waitFor()
  await policy.getByText('runs', { exact: true }).waitFor()

  await allowances.getByRole('button', { name: 'Revoke rec__count of homelab' }).click()
  await allowances.getByRole('button', { name: 'Revoke', exact: true }).click()
  await allowances.getByText('None.').waitFor()
  await policy.getByText('asks for a yes').waitFor()
})

test('the audit is saved as JSON lines, and opens in the panel', async () => {
  const page = await open('rules')
  const audit = page.getByRole('region', { name: 'The audit' })
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    audit.getByRole('button', { name: 'Save the audit as JSON lines' }).click(),
  ])
  const rows = readFileSync(await download.path(), 'utf8')
    .trim()
    .split('\n')
  expect(JSON.parse(rows[0] ?? '')).toMatchObject({ seq: 1, kind: 'start' })
  await audit.getByRole('button', { name: 'Open the audit' }).click()
  await page.getByRole('region', { name: 'Who did what' }).waitFor()
})

test('the config in force says where each value comes from, on a phone too, and shows no secret', async () => {
  const page = await open('config', { width: 390, height: 844, touch: true })
  const config = page.getByRole('region', { name: 'Config in force' })
  await config.getByText('dataFolder').waitFor()
  await config.getByText('from the file').first().waitFor()
  await config.getByText('SUPERBLOOM_DATA').waitFor()
  expect(await config.textContent()).not.toContain('never-shown')
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  await expectNoViolations(page, 'the config in force')
  await page.getByRole('button', { name: 'Rules' }).click()
  await page.getByRole('region', { name: 'Who may do what' }).getByText('rec__count').waitFor()
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  await expectNoViolations(page, 'the rules on a phone')
})
