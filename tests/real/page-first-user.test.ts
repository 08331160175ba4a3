import { existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { availableParallelism, hostname, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { root } from '../support/built.ts'
import { outsideNpm } from '../support/outside.ts'
import { startProgram } from '../support/program.ts'
import { type OpenPage, usePages } from './page/pages.ts'
import { answers, log, say } from './page/steps.ts'

const GIB = 2 ** 30
/** Seconds: ten times what the test needs to read the panel once. */
const REMINDER = 10

const pages = usePages()
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'superbloom-first-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/**
 * Runs `npm start` as a person does: in an empty folder, at a terminal (made by `script`), without any
 * setting.
 */
async function startAtTerminal() {
  const command = `"${process.execPath}" "${join(root, 'bin', 'superbloom.js')}" start`
  const program = await startProgram('script', ['-qfec', command, '/dev/null'], {
    cwd: folder,
    base: outsideNpm(),
    env: { SUPERBLOOM_PORT: '0', SUPERBLOOM_CONFIG: '', SUPERBLOOM_MODEL: '', SUPERBLOOM_TOKEN: '' },
  })
  const link = (await program.says(/Open (http:\/\/\S+)/))[1] ?? ''
  return {
    link,
    /** Stops it as a service manager does. */
    async stop() {
      const { pid } = JSON.parse(readFileSync(join(folder, 'data', 'hub.json'), 'utf8')) as { pid: number }
      process.kill(pid, 'SIGTERM')
      return program.ended
    },
    [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
  }
}

test('the printed link, the first question, the first reminder', async () => {
  await using hub = await startAtTerminal()
  expect(hub.link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#token=\S{20,}$/)
  const opened = await pages.open(hub.link)
  await expectTokenIsGone(opened, hub.link)
  await askHowTheMachineIs(opened)
  await askForAReminder(opened)
  await opened.page.close()
  expect(await hub.stop()).toEqual({ code: 0, signal: null })
  expect(existsSync(join(folder, 'data', 'hub.json'))).toBe(false)
})

async function expectTokenIsGone({ page }: OpenPage, link: string): Promise<void> {
  await page.getByRole('heading', { name: 'This is homelab.' }).waitFor()
  const token = link.split('token=')[1] ?? ''
  expect(page.url()).not.toContain('token')
  await page.reload()
  await page.getByRole('heading', { name: 'This is homelab.' }).waitFor()
  expect(await page.content()).not.toContain(token)
}

async function askHowTheMachineIs({ page, received }: OpenPage): Promise<void> {
  await say(page, 'how is this machine doing?')
  await answers(page).filter({ hasText: 'No language model is connected' }).waitFor()

  const call = log(page).locator('.tool')
  await call.waitFor()
  expect(await call.count()).toBe(1)
  expect(await call.textContent()).toMatch(/^Get system metrics\s*done/)
  await call.click()
  await call.getByText('get_system_metrics').waitFor()

  const answer = (await answers(page).textContent()) ?? ''
  expect(answer).toContain(hostname())
  expect(answer).toMatch(new RegExp(`CPU [\\d.]+ % of ${availableParallelism()} cores?`))
  expect(answer).toMatch(new RegExp(`Memory [\\d.]+ [MG]iB of ${(totalmem() / GIB).toFixed(1)} GiB`))
  const disk = statfsSync('/')
  const size = Number(/Disk \/ [\d.]+ % of ([\d.]+) GiB/.exec(answer)?.[1])
  expect(size / ((disk.blocks * disk.bsize) / GIB)).toBeCloseTo(1, 1)
  expect(answer).toMatch(/Temperature: /)
  expect(answer).toMatch(/Network \S+ in [\d.]+ /)

  const types = received.all.map(frame => (frame.type === 'message' ? frame.message.kind : frame.type))
  const whole = types.lastIndexOf('agent', types.length - 2)
  expect(types.slice(0, whole + 1)).toContain('delta')
  const states = received.all.flatMap(frame => (frame.type === 'tool' ? [frame.call.status] : []))
  expect(states).toEqual(['started', 'ok'])
}

async function askForAReminder({ page }: OpenPage): Promise<void> {
  const panel = page.getByRole('complementary', { name: 'The hub' })
  const scheduled = panel.getByRole('region', { name: 'Scheduled' })
  await scheduled.getByText('Nothing.').waitFor()
  await say(page, `Remind me in ${REMINDER} seconds to check the disks`)
  await scheduled.getByText('check the disks').waitFor()
  expect(await scheduled.textContent()).toMatch(/in \d+ s/)
  expect(await answers(page).count()).toBe(2)

  await answers(page).filter({ hasText: 'Reminder: check the disks.' }).waitFor()
  expect(await answers(page).count()).toBe(3)
  await scheduled.getByText('Nothing.').waitFor()
}
