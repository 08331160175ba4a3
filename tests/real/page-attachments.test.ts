import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makePdf } from '../support/make-pdf.ts'
import { createScriptedModel, say as says } from '../support/scripted-model.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { expectNoViolations } from './page/axe.ts'
import { usePages } from './page/pages.ts'
import { answers, linkTo, log, messageBox } from './page/steps.ts'

const pages = usePages()
const model = createScriptedModel()
let hub: TestHub
beforeAll(async () => {
  hub = await startTestHub({ overrides: { model } })
})
afterAll(() => hub[Symbol.asyncDispose]())

test('a file is sent with a message, read by the agent, and saved again', async () => {
  const { page } = await pages.open(linkTo(hub), { width: 390, height: 844, mayLog: /400/ })
  await messageBox(page).waitFor()
  const choose = page.locator('input[type=file]')
  await choose.setInputFiles([
    { name: 'boiler.pdf', mimeType: 'application/pdf', buffer: makePdf(['Error E42: no flame']) },
    { name: 'notes.md', mimeType: 'text/markdown', buffer: Buffer.from('# The boiler\n') },
  ])
  await page.getByRole('list', { name: 'Files to send' }).getByText('boiler.pdf').waitFor()
  await expectNoViolations(page, 'files to send')
  await messageBox(page).fill('What is E42?')
  model.script(says('There is no flame.'))
  await page.getByRole('button', { name: 'Send' }).click()
  await answers(page).getByText('There is no flame.').waitFor()
  const seen = model.requests.all.at(-1)?.messages.at(-1)?.text
  expect(seen).toContain('Error E42: no flame')
  expect(seen).toContain('# The boiler')

  await page.reload()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    log(page).getByRole('button', { name: 'notes.md' }).click(),
  ])
  expect(download.suggestedFilename()).toBe('notes.md')
  expect(readFileSync(await download.path(), 'utf8')).toBe('# The boiler\n')
  await expectNoViolations(page, 'sent files')

  await choose.setInputFiles([
    { name: 'a.zip', mimeType: 'application/zip', buffer: Buffer.from([80, 75, 3, 4, 0, 255]) },
  ])
  await messageBox(page).fill('And this?')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByRole('alert').getByText('Nothing was sent: a.zip holds no text').waitFor()
  expect(await messageBox(page).inputValue()).toBe('And this?')
})

test('a picture is sent with a message, seen by the agent, and stands in the conversation', async () => {
  const { page } = await pages.open(linkTo(hub), { width: 390, height: 844 })
  await messageBox(page).waitFor()
  const choose = page.locator('input[type=file]')
  const buffer = readFileSync(new URL('../../hub/web/icon-512.png', import.meta.url))
  await choose.setInputFiles(
    [1, 2, 3, 4, 5].map(count => ({ name: `boiler ${count}.png`, mimeType: 'image/png', buffer })),
  )
  await page.getByRole('alert').getByText('A message takes 4 pictures').waitFor()
  for (const count of [2, 3, 4])
    await page.getByRole('button', { name: `Remove boiler ${count}.png` }).click()
  model.script(says('It is a flower.'))
  await page.getByRole('button', { name: 'Send' }).click()
  await answers(page).getByText('It is a flower.').waitFor()
  const seen = model.requests.all.at(-1)?.messages.at(-1)
  expect(seen).toMatchObject({ images: [{ mimeType: 'image/jpeg' }] })
  await page.reload()
  const picture = log(page).getByRole('img', { name: 'Picture 1 of this message' })
  await picture.waitFor()
  expect(await page.evaluate(`document.querySelector('img.picture').naturalWidth`)).toBe(512)
  await expectNoViolations(page, 'a picture')
})
