import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { findProgram, needsPrivileges, openSandbox, toWrapper } from './sandbox.ts'

const PROGRAMS = { bwrap: '/usr/bin/bwrap', env: '/usr/bin/env', isRoot: false }

let home: string
let data: string

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'superbloom-sandbox-'))
  data = join(home, 'data')
  mkdirSync(join(data, 'servers', 'mine'), { recursive: true })
  for (const name of ['superbloom.yaml', 'key', 'data/config.yaml']) writeFileSync(join(home, name), '')
})
afterEach(() => rmSync(home, { recursive: true }))

test('the command line hides the data folder and the secrets that exist, and ends with the hub', () => {
  const files = ['superbloom.yaml', '.env', 'key', 'data/config.yaml'].map(name => join(home, name))
  expect(toWrapper(PROGRAMS, { dataFolder: data, files }, { env: {} })).toEqual([
    ...['/usr/bin/env', '--ignore-signal=TERM', '/usr/bin/bwrap', '--dev-bind', '/', '/', '--tmpfs', data],
    ...['--ro-bind', '/dev/null', join(home, 'superbloom.yaml'), '--ro-bind', '/dev/null', join(home, 'key')],
    ...['--unshare-pid', '--proc', '/proc', '--die-with-parent'],
    ...['--', '/usr/bin/env', '--default-signal=TERM'],
  ])
})

test('a server keeps its own folder, its cwd and the secret that its entry gives it', () => {
  const folder = join(data, 'servers', 'mine')
  const key = join(home, 'key')
  const server = { env: { KEY_FILE: key }, cwd: folder }
  const wrap = toWrapper(PROGRAMS, { dataFolder: data, files: [key] }, server, folder).join(' ')
  expect(wrap).toContain(`--tmpfs ${data} --bind ${folder} ${folder} --dir ${folder}`)
  expect(wrap).not.toContain(key)
})

test('root loses what would undo the sandbox, and links are followed', () => {
  const link = join(home, 'link')
  symlinkSync(data, link)
  const hidden = { dataFolder: link, files: [] }
  const wrap = toWrapper({ ...PROGRAMS, isRoot: true }, hidden, { env: {} }).join(' ')
  expect(wrap).toContain(`--tmpfs ${data} `)
  expect(wrap).toContain('--cap-drop CAP_SYS_ADMIN')
})

test.each([
  ['docker', true],
  ['/usr/bin/sudo', true],
  ['podman', true],
  ['npx', false],
  ['docker-mcp', false],
])('%s needs privileges: %s', (command, needs) => expect(needsPrivileges(command)).toBe(needs))

test('a program is found in the PATH, or by its path from the folder it starts in', () => {
  const program = join(home, 'run')
  writeFileSync(program, '', { mode: 0o755 })
  expect(findProgram('run', { PATH: `/nowhere:${home}` })).toBe(program)
  expect(findProgram('./run', {}, home)).toBe(program)
  expect(findProgram('key', { PATH: home })).toBeUndefined()
})

test('without bubblewrap, or with one that fails, it says why', async () => {
  const hidden = () => ({ dataFolder: data, files: [] })
  const none = await openSandbox({ PATH: home }, hidden)
  expect(none.why).toBe('bubblewrap (bwrap) is not installed')
  writeFileSync(join(home, 'bwrap'), '#!/bin/sh\necho "bwrap: No permissions" >&2\nexit 1\n', { mode: 0o755 })
  const broken = await openSandbox({ PATH: `${home}:/usr/bin:/bin` }, hidden)
  expect(broken.why).toBe('bubblewrap does not work here (bwrap: No permissions)')
})
