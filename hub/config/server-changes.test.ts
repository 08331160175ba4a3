import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { HubError } from '../core/errors.ts'
import {
  addServers,
  removeServer,
  restoreServer,
  type ServerFiles,
  setToolMode,
  switchServer,
} from './server-changes.ts'

let folder: string
let files: ServerFiles
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'superbloom-changes-'))
  files = {
    configFile: join(folder, 'superbloom.yaml'),
    serversFolder: join(folder, 'servers'),
    isBuiltIn: name => name === 'metrics',
    check: () => undefined,
  }
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const config = () => readFileSync(files.configFile, 'utf8')
const entryOf = (name: string) =>
  JSON.parse(readFileSync(join(files.serversFolder, name, 'mcp.json'), 'utf8'))
const tool = (server: string) => ({ server, original: 'write', name: `${server}__write` })

test('without a config file one is made, for its owner alone', () => {
  expect(switchServer(files, 'metrics', 'disable')).toEqual({ file: files.configFile })
  expect(config()).toBe('servers:\n  metrics: { "disabled": true }\n')
  expect(statSync(files.configFile).mode & 0o777).toBe(0o600)
  expect(switchServer(files, 'metrics', 'disable')).toBe('already')
  expect(switchServer(files, 'nobody', 'disable')).toBeUndefined()
})

test('a tool of a dropped-in server is left out in its own file, and taken again', () => {
  addServers(files, [{ name: 'files', entry: { command: 'npx', env: { TOKEN: 'x' } } }])
  setToolMode(files, tool('files'), 'off')
  expect(entryOf('files')).toEqual({ command: 'npx', env: { TOKEN: 'x' }, tools: { never: ['write'] } })
  setToolMode(files, tool('files'), 'ask')
  expect(entryOf('files')).toEqual({ command: 'npx', env: { TOKEN: 'x' } })
  expect(config()).toBe('tools:\n  approve: ["files__write"]\n')
  setToolMode(files, tool('files'), 'deny')
  expect(config()).toBe('tools:\n  deny: ["files__write"]\n')
  expect(existsSync(`${files.configFile}.bak`)).toBe(true)
})

test('a tool runs without asking by a rule of its own, of one power, and other rules and comments stay', () => {
  const rule = '    - tools: [b__*] # theirs\n      power: foreign\n'
  const text = `tools:\n  allow:\n    # of old\n${rule}`
  writeFileSync(files.configFile, text)
  setToolMode(files, tool('a'), 'run')
  const own = (power: string) => `    - { "tools": ["a__write"], "power": "${power}" }\n`
  expect(config()).toBe(text + own('person'))
  setToolMode(files, tool('a'), 'run')
  setToolMode(files, tool('a'), 'routine')
  expect(config()).toBe(text + own('routine'))
  setToolMode(files, tool('a'), 'on')
  expect(config()).toBe(text)
  expect(() => setToolMode(files, tool('b'), 'run')).toThrow(/tools\.allow has b__\*, which b__write fits/)
  // A glob does not let a destructive tool run, so its own rule may.
  setToolMode(files, { ...tool('b'), toolClass: 'destroy' }, 'run')
  expect(config()).toContain('{ "tools": ["b__write"], "power": "person" }')
  setToolMode(files, tool('c'), 'run')
  setToolMode(files, tool('c'), 'ask')
  expect(config()).not.toContain('{ "tools": ["c__write"]')
  expect(config()).toContain('approve: ["c__write"]')
})

test('only keeps the tools that it names, and gets one more', () => {
  const text = '# mine\nservers:\n  a: { command: x, tools: { only: [read] } } # here\n'
  writeFileSync(files.configFile, text)
  setToolMode(files, tool('a'), 'on')
  expect(config()).toBe(text.replace('{ only: [read] }', '{ "only": ["read", "write"] }'))
})

test('rules that name more than the tool stay, and nothing is written', () => {
  const text = 'servers:\n  a: { command: x, tools: { never: ["write"] } }\ntools: { approve: ["a__*"] }\n'
  writeFileSync(files.configFile, text)
  expect(() => setToolMode(files, tool('a'), 'on')).toThrow(/tools\.approve has a__\*, which a__write fits/)
  expect(config()).toBe(text)
  writeFileSync(files.configFile, text.replace('"write"', '"wr*"'))
  expect(() => setToolMode(files, tool('a'), 'ask')).toThrow(/tools\.never has wr\*/)
})

test('a text that the loader refuses is not written', () => {
  writeFileSync(files.configFile, 'servers: {}\n')
  const check = () => {
    throw new HubError('bad_request', 'superbloom.yaml:1: wrong')
  }
  expect(() => switchServer({ ...files, check }, 'metrics', 'disable')).toThrow(/wrong/)
  expect(config()).toBe('servers: {}\n')
})

test('a folder is put aside, and a built-in server stays', () => {
  addServers(files, [{ name: 'files', entry: { command: 'npx' } }])
  expect(() => addServers(files, [{ name: 'files', entry: { command: 'y' } }])).toThrow(/remove that first/)
  expect(removeServer(files, 'files')).toMatchObject({
    from: 'folder',
    aside: join(files.serversFolder, '.removed-files'),
  })
  expect(removeServer(files, 'files')).toBeUndefined()
  expect(() => removeServer(files, 'metrics')).toThrow(/cannot be removed/)
})

test('a removed server comes back as it was, with its comments or among what changed meanwhile', () => {
  const text = 'servers:\n  # mine\n  a: { command: x, tools: { never: [write] } } # here\n  b: false\n'
  writeFileSync(files.configFile, text)
  const remove = (name: string) => {
    const removed = removeServer(files, name)
    if (!removed) throw new Error(`${name} was not there`)
    return removed
  }
  expect(restoreServer(files, 'a', remove('a'))).toBe(files.configFile)
  expect(config()).toBe(text)

  const removed = remove('a')
  setToolMode(files, tool('c'), 'deny')
  restoreServer(files, 'a', removed)
  expect(config()).toContain('a: { "command": "x", "tools": { "never": ["write"] } }')
  expect(config()).toContain('deny: ["c__write"]')
  expect(() => restoreServer(files, 'a', removed)).toThrow(/There is a server a again/)

  addServers(files, [{ name: 'files', entry: { command: 'npx' } }])
  setToolMode(files, tool('files'), 'off')
  const aside = remove('files')
  addServers(files, [{ name: 'files', entry: { command: 'other' } }])
  expect(() => restoreServer(files, 'files', aside)).toThrow(/There is a server files again/)
  remove('files')
  expect(restoreServer(files, 'files', aside)).toBe(join(files.serversFolder, 'files'))
  expect(entryOf('files')).toEqual({ command: 'npx', tools: { never: ['write'] } })
})

test.each(['!look', '*', 'a*b'])(
  'a tool whose name is the glob %s is refused, and no other tool comes back',
  name => {
    const text = 'servers:\n  a: { command: x, tools: { never: ["look"] } }\n'
    writeFileSync(files.configFile, text)
    const odd = { server: 'a', original: name, name: 'a__x' }
    expect(() => setToolMode(files, odd, 'off')).toThrow(/a glob over/)
    expect(() => setToolMode(files, { ...odd, original: 'x', name }, 'deny')).toThrow(/a glob over/)
    expect(config()).toBe(text)
    setToolMode(files, odd, 'deny')
    expect(config()).toBe(`${text}tools:\n  deny: ["a__x"]\n`)
  },
)
