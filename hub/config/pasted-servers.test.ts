import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { startProcessorClock } from '../../tests/support/processor-clock.ts'
import { makeTempFolder } from '../../tests/support/temp-store.ts'
import { createEnvironment } from './environment.ts'
import { loadConfig } from './load.ts'
import { readDropInEntry } from './pasted-servers.ts'

function loadFile(text: string, variables: Record<string, string> = {}, others: Record<string, string> = {}) {
  using folder = makeTempFolder()
  const file = join(folder.path, 'superbloom.yaml')
  for (const [name, content] of Object.entries({ ...others, 'superbloom.yaml': text }))
    writeFileSync(join(folder.path, name), content)
  const config = loadConfig(createEnvironment({ ...variables, SUPERBLOOM_CONFIG: file }))
  return {
    ...config,
    folder: folder.path,
    warnings: config.warnings.map(one => one.replace(`${file}: `, '')),
  }
}

const CLAUDE_DESKTOP = `{
  "globalShortcut": "Ctrl+Space",
  "preferences": { "menuBarEnabled": true },
  "mcpServers": {
    "MCP_DOCKER": { "command": "docker", "args": ["mcp", "gateway", "run"] },
    "Home Assistant": { "command": "mcp-proxy", "env": { "SSE_URL": "http://ha/mcp", "PORT": 8123, "DEBUG": true } }
  }
}`

test('a file of Claude Desktop is taken as it is: its names become ours, and its other keys are warned of', () => {
  const { servers, writtenNames, warnings } = loadFile(CLAUDE_DESKTOP)
  expect(servers).toEqual({
    mcp_docker: { command: 'docker', args: ['mcp', 'gateway', 'run'] },
    'home-assistant': {
      command: 'mcp-proxy',
      env: { SSE_URL: 'http://ha/mcp', PORT: '8123', DEBUG: 'true' },
    },
  })
  expect(writtenNames).toEqual({ mcp_docker: 'MCP_DOCKER', 'home-assistant': 'Home Assistant' })
  expect(warnings).toEqual([
    'globalShortcut: not a key that the hub knows; ignored',
    'preferences: not a key that the hub knows; ignored',
    'servers.MCP_DOCKER: is called mcp_docker here',
    'servers.Home Assistant: is called home-assistant here',
  ])
})

const CURSOR = `{
  "mcpServers": {
    "GitHub": {
      "url": "https://h/mcp",
      "headers": { "Authorization": "Bearer \${env:GITHUB_TOKEN}" },
      "auth": { "CLIENT_ID": "me", "CLIENT_SECRET": "\${env:SECRET}", "scopes": ["a", "b"] }
    },
    "files": {
      "type": "stdio",
      "command": "\${workspaceFolder}\${/}run",
      "args": ["\${userHome}/x", "\${workspaceFolderBasename}"],
      "envFile": ".env",
      "env": { "B": "own", "GONE": null }
    }
  }
}`

test('a file of Cursor is taken as it is, with its variables, its login and its file of variables', () => {
  const env = '# secrets\nA="one two"\nexport B=two\nC=\'three\'\n'
  const { servers, folder, warnings } = loadFile(
    CURSOR,
    { GITHUB_TOKEN: 'gt', SECRET: 's3' },
    { '.env': env },
  )
  expect(servers).toMatchObject({
    github: {
      headers: { Authorization: 'Bearer gt' },
      oauth: { grant: 'authorization_code', clientId: 'me', clientSecret: 's3', scope: 'a b' },
    },
    files: {
      command: join(folder, 'run'),
      args: [`${homedir()}/x`, folder.split('/').at(-1)],
      env: { A: 'one two', B: 'own', C: 'three' },
    },
  })
  expect(warnings).toEqual(['servers.GitHub: is called github here'])
})

const VS_CODE = `// .vscode/mcp.json
{
  "inputs": [
    { "type": "promptString", "id": "github-token", "description": "Token", "password": true },
    { "type": "pickString", "id": "region", "options": ["eu", "us"], "default": "eu" },
  ],
  "servers": {
    /* far away */
    "GitHub": { "type": "http", "url": "https://h/mcp", "headers": { "Authorization": "Bearer \${input:github-token}" } },
    "cloud": { "type": "stdio", "command": "cloud", "args": ["--region", "\${input:region}"], "dev": { "watch": "x" } }, // near
  },
}`

test('a file of VS Code is taken as it is: what it would ask a person comes from the environment', () => {
  const { servers, heldServers, warnings } = loadFile(VS_CODE, { GITHUB_TOKEN: 'gt' })
  expect(servers).toMatchObject({
    github: { url: 'https://h/mcp', headers: { Authorization: 'Bearer gt' } },
    cloud: { command: 'cloud', args: ['--region', 'eu'] },
  })
  expect(heldServers).toEqual({})
  expect(warnings).toContain('servers.cloud.dev: not a key that the hub knows; ignored')
})

test('what is missing for one server holds that server alone', () => {
  const held = loadFile(VS_CODE)
  expect(Object.keys(held.servers)).toEqual(['cloud'])
  expect(held.heldServers).toEqual({
    github: `headers.Authorization: \${input:github-token} is what another client asks a person for; set GITHUB_TOKEN or write the value`,
  })
  const text = `servers:
  a: { command: x, args: ["\${NOPE}"] }
  b: { command: x, envFile: no.env }
  c: { command: "\${NOPE:-c}" }`
  const others = loadFile(text)
  expect(others.servers).toEqual({ c: { command: 'c' } })
  expect(others.heldServers).toEqual({
    a: 'args.0: the environment has no NOPE; set it or write the value',
    b: expect.stringMatching(/^envFile: .*no\.env/),
  })
})

test('names that would be alike are told apart, and what has no letters gets a name', () => {
  const { servers } = loadFile(
    'servers: { GitHub: {command: a}, github: {command: b}, "日本": {command: c} }',
  )
  expect(servers).toEqual({
    'github-2': { command: 'a' },
    github: { command: 'b' },
    server: { command: 'c' },
  })
})

test('a wrong entry holds itself alone, and null is none', () => {
  const text = `{ "servers": {
    "socket": { "url": "unix:///tmp/x.sock" },
    "Hub": { "command": "a" },
    "nothing": null,
    "number": { "command": 5, "env": { "A": [] } },
    "good": { "command": "b", "env": null, "args": null } } }`
  const { servers, heldServers } = loadFile(text)
  expect(servers).toEqual({ good: { command: 'b' } })
  expect(heldServers).toEqual({
    socket: 'url: Invalid URL',
    hub: 'its name must not be hub, which is the hub itself',
    nothing: 'the entry: expected object, received null',
    number: expect.stringMatching(/^command: expected string, received number; env\.A: /),
  })
})

test("VS Code's user settings are taken as they are", () => {
  const { servers, heldServers } = loadFile(`{
    "editor.fontSize": 12, "terminal": { "cwd": "\${env:NOPE}" },
    "mcp": {
      "inputs": [{ "id": "a", "default": "d" }],
      "servers": { "x": { "command": "y", "args": ["\${input:a}"] }, "z": { "command": "\${env:NOPE}" } }
    } }`)
  expect(servers).toEqual({ x: { command: 'y', args: ['d'] } })
  expect(heldServers).toEqual({ z: 'command: the environment has no NOPE; set it or write the value' })
})

test('an entry with what only another client can fill in is held, and is not handed to the program', () => {
  const text = `# Elsewhere \${any:thing} is a text.
webhooks: { a: { secret: "a secret of \${any:thing}" } }
servers:
  a: { command: x, args: ["\${command:foo.bar}", "\${config:a.b}"] }
  b: { command: x, env: { A: "\${unknownThing:abc}" } }
  c: { command: sh, args: [-c, "echo \${A:0:3} \${A:+x} \${B:-y} \${#A}"] }`
  const { servers, heldServers } = loadFile(text)
  const why = 'is what only another client can fill in; write the value'
  expect(servers).toEqual({ c: { command: 'sh', args: ['-c', `echo \${A:0:3} \${A:+x} y \${#A}`] } })
  expect(heldServers).toEqual({
    a: `args.0: \${command:foo.bar} ${why}; args.1: \${config:a.b} ${why}`,
    b: `env.A: \${unknownThing:abc} ${why}`,
  })
  expect(() => readEntry(`{ "command": "\${config:a.b}" }`)).toThrow(`command: \${config:a.b} ${why}`)
})

const BOMB = `a: &a [x,x,x,x,x,x,x,x,x]\n${Array.from('bcdefghi', (name, index) => `${name}: &${name} [${`*${'abcdefgh'[index]},`.repeat(9)}]`).join('\n')}\n`

test('aliases that stand for more than fits are a mistake in the file and nothing worse', () => {
  expect(() => loadFile(BOMB)).toThrow(/superbloom\.yaml: cannot be read: Excessive alias count/)
  expect(() => loadFile('['.repeat(200_000))).toThrow(/superbloom\.yaml:/)
})

const MERGES = `a: &a {x: 1}\n${Array.from({ length: 8_000 }, (_, index) => `b${index}: {<<: *a}`).join('\n')}\n`
const DEEP = `{"command":"node","x":${'['.repeat(120_000)}${']'.repeat(120_000)}}`
const WIDE = Array.from({ length: 20_000 }, (_, index) => `"k${index}": 1`)

test.each([
  ['thousands of merge keys', MERGES, /cannot be read: has 8000 aliases \(\*name\) in \d+ characters/],
  ['deep JSON', DEEP, /cannot be read: nests more than 100 levels deep; write it flatter$/],
  ['deep YAML', '- '.repeat(100_000), /cannot be read: nests more than 100 levels deep; write it flatter$/],
  ['a mapping of thousands of keys', WIDE.join('\n'), /k0: no such key\n[\s\S]* more problems$/],
])('%s: the time to refuse it does not grow with the square of the text', (_what, text, words) => {
  const used = startProcessorClock()
  expect(() => loadFile(text)).toThrow(words)
  expect(used()).toBeLessThan(5_000)
})

test('JSON of thousands of keys, and a list of brackets in texts, are read at once', () => {
  const used = startProcessorClock()
  expect(readEntry(`{ "command": "x", "env": {${WIDE}} }`).command).toBe('x')
  expect(readEntry(`{ "command": "x", "args": ["${'['.repeat(1_000)}"] }`).args).toHaveLength(1)
  expect(used()).toBeLessThan(5_000)
})

function readEntry(text: string, prepare: (file: string) => void = file => writeFileSync(file, text)) {
  using folder = makeTempFolder()
  const file = join(folder.path, 'one', 'mcp.json')
  mkdirSync(dirname(file))
  prepare(file)
  return readDropInEntry(file)
}

test("a drop-in may be a client's whole file with one server in it", () => {
  expect(readEntry('{ "mcpServers": { "Files": { "command": "x" } } } // pasted')).toEqual({ command: 'x' })
  expect(
    readEntry(`{ "inputs": [{"id":"a","default":"d"}], "servers": { "F": { "command": "\${input:a}" } } }`),
  ).toEqual({ command: 'd' })
  expect(() => readEntry('{ "mcpServers": { "a": { "command": "x" }, "b": { "command": "x" } } }')).toThrow(
    'holds 2 servers (a, b), and a folder is one server: put',
  )
  expect(() => readEntry(`{ "command": "\${env:HOME}" }`)).toThrow(
    'command: the environment has no HOME; set it or write the value; a dropped-in entry sees nothing of the environment',
  )
})

test.each<[string, (file: string) => void, RegExp]>([
  ['a pipe', file => execFileSync('mkfifo', [file]), /mcp\.json is no file$/],
  ['a folder', file => mkdirSync(file), /mcp\.json is no file$/],
  ['huge', file => writeFileSync(file, ' '.repeat(1_000_000)), /mcp\.json is over 262144 bytes$/],
  ['aliases', file => writeFileSync(file, BOMB), /cannot be read: Excessive alias count/],
  ['too deep', file => writeFileSync(file, '['.repeat(100_000)), /mcp\.json: cannot be read: nests more/],
  ['merge keys', file => writeFileSync(file, MERGES), /mcp\.json: cannot be read: has 8000 aliases/],
])('a drop-in that is %s is refused at once', (_what, prepare, words) =>
  expect(() => readEntry('', prepare)).toThrow(words),
)
