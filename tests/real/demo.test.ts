import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { processesNaming } from '../support/processes.ts'
import { startProgram } from '../support/program.ts'
import { makeTempFolder } from '../support/temp-store.ts'
import { within } from '../support/until.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** The lines that a watching person must see, in this order. */
const SCENES = [
  /^Superbloom runs\. Open http:\/\/127\.0\.0\.1:\d+$/m,
  /^owner: The game server is slow$/m,
  /^\[tool\] pause_downloads: sabnzbd is paused\.$/m,
  /^\(the phone shows\) Downloads are paused so that lab-arena runs well\.$/m,
  /^\[tool\] resume_downloads: sabnzbd goes on\.$/m,
  /^\[agent\] homelab: The downloads go on\.$/m,
  /^\(the phone shows\) The CPU runs hot\. I look again in a while\.$/m,
  /^\(Ada left\)$/m,
  /^\[tool\] get_player_count: 0 players of at most 8 on Lab Arena \(lab-arena\)\./m,
  /^All three stories ended as they should\.$/m,
]

test('the demo plays its three stories to their end, says what happens, and leaves nothing behind', {
  timeout: 150_000,
}, async () => {
  using folder = makeTempFolder()
  const { PATH, HOME } = process.env
  await using demo = await startProgram('npm', ['run', 'demo', '--', '--play'], {
    cwd: ROOT,
    base: { PATH, HOME },
    env: { TMPDIR: folder.path },
  })
  const { code } = await within('the demo ends', demo.ended, 120_000)
  expect(code, demo.stdout + demo.stderr).toBe(0)
  expect(demo.stderr).toBe('')
  const places = SCENES.map(scene => demo.stdout.search(scene))
  expect(places, demo.stdout).toEqual([...places].sort((a, b) => a - b))
  expect(places, demo.stdout).not.toContain(-1)
  expect(demo.stdout).not.toMatch(/undefined|\[object|\bat .*\.ts:\d+/)
  expect(readdirSync(folder.path).filter(name => name !== 'node-compile-cache')).toEqual([])
  expect(processesNaming(folder.path)).toEqual([])
})
