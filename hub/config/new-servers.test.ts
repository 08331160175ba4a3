import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type AddOptions, readNewServers, readPastedServers } from './new-servers.ts'

const bare = (name: string, entry: object) => [{ name, entry, notes: [] }]

test('a command with its options becomes an entry', () => {
  const options = { env: ['A=b=c', 'EMPTY='], cwd: '/srv', prefix: 'f_', isolated: true }
  expect(readNewServers('files', ['npx', '-y', 'x'], options)).toEqual(
    bare('files', {
      command: 'npx',
      args: ['-y', 'x'],
      env: { A: 'b=c', EMPTY: '' },
      cwd: '/srv',
      prefix: 'f_',
      isolated: true,
    }),
  )
})

test('an address with headers becomes an entry', () => {
  const options = { url: 'https://example.org/mcp', header: ['Authorization: Bearer a:b'], prefix: '' }
  expect(readNewServers('remote', [], options)).toEqual(
    bare('remote', {
      url: 'https://example.org/mcp',
      headers: { Authorization: 'Bearer a:b' },
      prefix: '',
    }),
  )
})

const ENTRY = { command: 'npx', args: ['-y', 'x'] }

test.each([
  ['what most clients keep', undefined, { mcpServers: { files: ENTRY } }],
  ['what VS Code keeps', undefined, { inputs: [], servers: { files: { type: 'stdio', ...ENTRY } } }],
  ['the servers alone', undefined, { files: ENTRY }],
  ['one server alone', 'files', ENTRY],
  ['one of several', 'files', { mcpServers: { other: { url: 'http://x' }, files: ENTRY } }],
])('%s is taken as it was pasted', (_what, name, pasted) => {
  const [one] = readNewServers(name, [], { json: JSON.stringify(pasted) })
  expect(one).toMatchObject({ name: 'files', entry: ENTRY, notes: [] })
})

test.each(['url', 'serverUrl', 'httpUrl'])('an address under %s is one', key => {
  const json = JSON.stringify({ mcpServers: { remote: { type: 'http', [key]: 'https://example.org/mcp' } } })
  expect(readNewServers(undefined, [], { json })[0]?.entry).toMatchObject({ url: 'https://example.org/mcp' })
})

test('names of other clients are made ours, and what only they fill in is told, without the secret', () => {
  const env = { TOKEN: `\${input:token}`, KEY: 'very secret' }
  const folder = mkdtempSync(join(tmpdir(), 'superbloom-pasted-'))
  const file = join(folder, 'claude_desktop_config.json')
  writeFileSync(file, JSON.stringify({ mcpServers: { 'Sequential Thinking!': { ...ENTRY, env } } }))
  const [one] = readNewServers(undefined, [], { json: file })
  rmSync(folder, { recursive: true })
  expect(one).toMatchObject({ name: 'sequential-thinking', entry: { ...ENTRY, env } })
  expect(one?.notes).toEqual([
    'Sequential Thinking! is called sequential-thinking here.',
    `sequential-thinking: \${input:token} is filled in by another client only: write its value.`,
  ])
})

test.each<[string | undefined, string[], AddOptions, RegExp]>([
  [undefined, [], {}, /give it a name.*superbloom servers add files -- npx/],
  ['files', [], {}, /give either a command behind -- or --url/],
  ['files', ['npx'], { url: 'http://x' }, /give either a command behind -- or --url/],
  ['files', ['npx'], { header: ['a: b'] }, /--header goes with --url/],
  ['files', [], { url: 'http://x', env: ['A=b'] }, /--env and --cwd go with a command/],
  ['files', ['npx'], { env: ['hunter2'] }, /--env: write KEY=value$/],
  ['files', [], { url: 'http://x', header: ['Bearer hunter2'] }, /--header: write "Name: value"$/],
  ['files', [], { url: 'ftp://x' }, /files: url: /],
  ['files', ['npx'], { prefix: 'ä' }, /files: prefix: must be letters, digits, _ and -/],
  ['My Files', ['npx'], {}, /the name "My Files" must be lower-case.*; my-files would do/],
  ['../x', ['npx'], {}, /must be lower-case.*; x would do/],
  ['hub', ['npx'], {}, /the name "hub" must not be hub, which is the hub itself$/],
  ['files', ['npx'], { json: '{}' }, /give nothing else besides a name/],
  [undefined, [], { json: '{"a"}' }, /this is no JSON object/],
  [undefined, [], { json: '/nowhere.json' }, /there is no file \/nowhere.json/],
  [undefined, [], { json: JSON.stringify(ENTRY) }, /one server without its name/],
  [undefined, [], { json: '{}' }, /there is no server in it/],
  ['b', [], { json: JSON.stringify({ mcpServers: { a: ENTRY } }) }, /no server b in it; there is a$/],
  ['b', [], { json: '{}' }, /no server b in it; there is none$/],
  [undefined, [], { json: '{"mcpServers":{"a":{"command":"x","url":"http://x"}}}' }, /a: needs either/],
  [undefined, [], { json: '{"mcpServers":{"a":{"command":1}}}' }, /a: command: /],
])('%j %j %j is answered with what to do', (name, command, options, words) => {
  expect(() => readNewServers(name, command, options)).toThrow(words)
})

test.each([
  [
    'npx -y @modelcontextprotocol/server-filesystem@2 /srv',
    'filesystem',
    ['-y', '@modelcontextprotocol/server-filesystem@2', '/srv'],
  ],
  ['npx -y kubernetes-mcp-server@latest', 'kubernetes', ['-y', 'kubernetes-mcp-server@latest']],
  ['uvx mcp-grafana', 'grafana', ['mcp-grafana']],
  [
    "docker run -i --rm \\\n  -e A='b c' ghcr.io/house/lamp-mcp:1.2",
    'lamp',
    ['run', '-i', '--rm', '-e', 'A=b c', 'ghcr.io/house/lamp-mcp:1.2'],
  ],
])('the command line %j is called %s', (text, name, args) => {
  const [one] = readPastedServers(text)
  expect(one).toMatchObject({
    name,
    entry: { args },
    notes: [],
  })
})

test('a pasted text may begin with variables, be an address, and be given a name', () => {
  const [one] = readPastedServers('TOKEN="a \\"b\\"" MODE=$HOME npx lamp', 'lamp')
  expect(one?.entry).toEqual({ command: 'npx', args: ['lamp'], env: { TOKEN: 'a "b"', MODE: '$HOME' } })
  expect(readPastedServers('https://mcp.example.org/mcp')).toEqual(
    bare('mcp-example-org', { url: 'https://mcp.example.org/mcp' }),
  )
  expect(() => readPastedServers('https://example.org/mcp -H x')).toThrow(/stands alone/)
  expect(() => readPastedServers(' ')).toThrow(/paste the JSON/)
})
