import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createSmartctl } from './drives.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'smartctl-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

function createProgram(script: string) {
  const path = join(folder, 'smartctl')
  writeFileSync(path, `#!/bin/sh\n${script}\n`)
  chmodSync(path, 0o755)
  return createSmartctl(path)
}
const noSignal = new AbortController().signal

test('what smartctl writes counts, whatever its exit code says of the drive', async () => {
  expect(await createProgram('echo "$@"; exit 4')(['--json', '/dev/sda'], noSignal)).toBe('--json /dev/sda\n')
})

test('a missing smartctl is told from a failing one', async () => {
  const run = createSmartctl(join(folder, 'none'))
  await expect(run([], noSignal)).rejects.toMatchObject({ code: 'ENOENT' })
})

test('a smartctl that hangs is ended', async () => {
  const controller = new AbortController()
  const answer = createProgram('exec sleep 600')([], controller.signal)
  controller.abort()
  await expect(answer).rejects.toMatchObject({ name: 'AbortError' })
})
