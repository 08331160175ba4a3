import { spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  closeSync,
  linkSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readForChange, rewriteConfig } from './rewrite-config.ts'
import { writeWhole, writing } from './write-file.ts'

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'superbloom-write-'))
  file = join(folder, 'superbloom.yaml')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const MODULE = pathToFileURL(join(import.meta.dirname, 'write-file.ts')).href
const isRoot = process.getuid?.() === 0

describe.each([{ inPlace: true }, { inPlace: false }])('in place: $inPlace', ({ inPlace }) => {
  test('somebody who reads while it is written never sees it empty or cut', async () => {
    const [long, short] = ['a'.repeat(3_000), 'b'.repeat(1_000)]
    writeFileSync(file, long)
    const program = `import { writeWhole } from '${MODULE}'
      for (let time = 0; time < 200; time++)
        writeWhole(process.argv[1], time % 2 ? '${long}' : '${short}', { mode: 0o600, inPlace: ${inPlace} })`
    const child = spawn(process.execPath, ['--input-type=module', '-e', program, file], { stdio: 'inherit' })
    const ended = new Promise(resolve => child.on('exit', resolve))
    const seen = new Set<string>()
    while (child.exitCode === null) {
      seen.add(readFileSync(file, 'utf8').trimEnd())
      await new Promise(setImmediate)
    }
    expect(await ended).toBe(0)
    // In place, a reader may see parts of both contents, with the blank lines that stand for the end of the shorter.
    const whole = inPlace ? /^[ab\n]+$/ : /^(a{3000}|b{1000})$/
    expect([...seen].filter(text => text.length < short.length || !whole.test(text))).toEqual([])
  }, 60_000)

  test('without room for the new content the old one stays, and no draft', () => {
    writeFileSync(file, 'old\n'.repeat(1_000))
    const program = `import { writeWhole } from '${MODULE}'
      try { writeWhole(process.argv[1], 'new'.repeat(10_000), { mode: 0o600, inPlace: ${inPlace} }) }
      catch (error) { console.log(error.code) }`
    // The largest file is 16 blocks of 512 or 1,024 bytes here: a full disk for whoever writes.
    const limited = ['-c', 'trap "" XFSZ; ulimit -f 16; exec "$@"', 'bash', process.execPath]
    const args = [...limited, '--input-type=module', '-e', program, file]
    expect(spawnSync('bash', args, { encoding: 'utf8' }).stdout.trim()).toBe('EFBIG')
    expect(readFileSync(file, 'utf8')).toBe('old\n'.repeat(1_000))
    expect(readdirSync(folder)).toEqual(['superbloom.yaml'])
  })

  test('mode, owner and links stay', () => {
    const real = join(folder, 'real.yaml')
    writeFileSync(real, 'old')
    chmodSync(real, 0o646)
    if (isRoot) chownSync(real, 1234, 1235)
    symlinkSync('real.yaml', file)
    const before = statSync(real)
    writeWhole(file, 'new', { mode: 0o600, inPlace })
    const { mode, uid, gid, ino } = statSync(real)
    expect([mode, uid, gid]).toEqual([before.mode, before.uid, before.gid])
    expect(ino === before.ino).toBe(inPlace)
    expect(readFileSync(file, 'utf8')).toBe('new')
    linkSync(real, join(folder, 'other'))
    writeWhole(file, 'newer', { mode: 0o600, inPlace })
    expect(readFileSync(join(folder, 'other'), 'utf8')).toBe('newer')
  })
})

test('who has an agent file open keeps reading the text that was there', () => {
  writeFileSync(file, 'old')
  const opened = openSync(file, 'r')
  writeWhole(file, 'new', { mode: 0o600 })
  expect(readFileSync(opened, 'utf8')).toBe('old')
  closeSync(opened)
})

test('a full disk is called so', () => {
  const full = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
  const write = () => {
    throw full
  }
  expect(() => writing(file, write)).toThrow(/the disk is full: make room\. The file is as it was$/)
})

test('a config that somebody changes meanwhile is not overwritten, and its copy is whole', () => {
  writeFileSync(file, 'tools: { deny: ["*"] } # theirs\n')
  expect(() => rewriteConfig(file, 'tools: { deny: ["*"] }\n', 'budget: {}\n')).toThrow(
    /changed by somebody else/,
  )
  expect(readFileSync(file, 'utf8')).toBe('tools: { deny: ["*"] } # theirs\n')
  // An editor empties the file before it fills it.
  writeFileSync(file, '')
  expect(() => readForChange(file)).toThrow(/changed by somebody else/)
  utimesSync(file, 1, 1)
  expect(readForChange(file)).toBe('')
})
