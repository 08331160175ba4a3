import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { makeTempFolder } from '../../tests/support/temp-store.ts'
import { systemTimezone } from '../core/clock.ts'
import { createEnvironment } from './environment.ts'
import { loadConfig } from './load.ts'
import { hasPrices } from './models.ts'

function load(text: string | undefined, variables: Record<string, string> = {}) {
  using folder = makeTempFolder()
  const file = join(folder.path, 'superbloom.yaml')
  if (text !== undefined) writeFileSync(file, text)
  const named = text === undefined ? {} : { SUPERBLOOM_CONFIG: file }
  try {
    return loadConfig(createEnvironment({ ...named, ...variables }))
  } catch (error) {
    throw error instanceof Error
      ? Object.assign(error, { message: error.message.replaceAll(file, 'FILE') })
      : error
  }
}

test('without anything it has the documented defaults', () => {
  const config = load(undefined, { SUPERBLOOM_CONFIG: '' })
  expect(config).toMatchObject({
    dataFolder: resolve('data'),
    agentsFolder: resolve('agents'),
    host: '127.0.0.1',
    port: 8420,
    publicUrl: undefined,
    token: undefined,
    logLevel: 'info',
    timezone: systemTimezone(),
    hosts: [],
    concurrency: 8,
    model: undefined,
    tools: { approve: [], rerun: [] },
    budget: {},
    retention: { days: 365, fileDays: 365, auditDays: 90 },
    crashHold: true,
    servers: {},
    warnings: [],
  })
  expect(Object.isFrozen(config)).toBe(true)
})

test('the environment, with where each value came from', () => {
  const config = load('concurrency: 2\n', {
    SUPERBLOOM_DATA: '/srv/data',
    SUPERBLOOM_PORT: '0',
    SUPERBLOOM_PUBLIC_URL: 'https://hub.example/',
    SUPERBLOOM_TOKEN: 'a-token-that-is-long',
    OPENAI_API_KEY: 'sk',
    SUPERBLOOM_MODEL: 'qwen3:32b',
    SUPERBLOOM_MODEL_CONTEXT: '8192',
    SUPERBLOOM_COMPACTION_MODEL: 'qwen3:4b',
    SUPERBLOOM_CRASH_HOLD: '0',
  })
  expect(config).toMatchObject({
    dataFolder: '/srv/data',
    port: 0,
    publicUrl: 'https://hub.example',
    concurrency: 2,
    crashHold: false,
  })
  const main = {
    provider: 'openai',
    baseUrl: 'https://api.openai.com/v1',
    apiKey: 'sk',
    model: 'qwen3:32b',
    context: 8192,
  }
  expect(config.model).toEqual({
    default: main,
    fallback: [],
    compaction: { ...main, model: 'qwen3:4b' },
    named: {},
  })
  expect(config.origins).toMatchObject({
    dataFolder: 'SUPERBLOOM_DATA',
    host: 'default',
    model: 'SUPERBLOOM_MODEL',
  })
  expect(config.origins['concurrency']).toMatch(/superbloom\.yaml$/)
  for (const key of ['hosts', 'tools', 'budget', 'retention']) expect(config.origins[key]).toBe('default')
})

test('what stands under mcpServers has the file for its origin, as servers', () => {
  expect(load('mcpServers: { a: { command: x } }').origins['servers']).toMatch(/superbloom\.yaml$/)
})

test("fallbacks and the summaries' model, with prices", () => {
  const entry = (model: string, price: string) =>
    `{ baseUrl: "http://h/v1", model: ${model}, price: ${price} }`
  const cheap = '{ currency: EUR, input: 0.1, output: 0.4 }'
  const text = `model:
  default: ${entry('a', '{ currency: EUR, input: 1, cachedInput: 0.5, output: 4 }')}
  fallback: [${entry('b', cheap)}]
  compaction: ${entry('c', cheap)}
budget: { moneyPerDay: 5 }`
  const { model, budget } = load(text)
  expect(budget).toEqual({ moneyPerDay: 5 })
  expect(model).toMatchObject({
    default: { model: 'a', price: { input: 1, cachedInput: 0.5, output: 4 } },
    fallback: [{ model: 'b', price: { input: 0.1, cachedInput: 0.1, output: 0.4 } }],
    compaction: { model: 'c' },
  })
  expect(hasPrices(model)).toBe(true)
  expect(hasPrices(load('model: { default: { baseUrl: "http://h/v1", model: m } }').model)).toBe(false)
  expect(hasPrices(undefined)).toBe(false)
  expect(() => load(text.replace(cheap, '{ currency: USD, input: 1, output: 1 }'))).toThrow(
    'model: prices are in EUR and USD',
  )
  expect(() => load(text.replace(`, price: ${cheap}`, ''))).toThrow(
    'FILE:5: budget.moneyPerDay: money cannot be limited without prices',
  )
})

test('a key of a body that the hub writes is refused with its path', () => {
  const text = 'model:\n  default:\n    provider: openai\n    model: m\n    body:\n      stream: false\n'
  expect(() => load(text)).toThrow('FILE:6: model.default.body.stream: every reply is streamed: leave it out')
})

test('the model of the file wins over the environment, and what nobody wrote stays open', () => {
  const text = 'model: { default: { baseUrl: "http://localhost:11434/v1", model: m, context: 100000 } }'
  expect(load(text, { SUPERBLOOM_MODEL: 'other' }).model).toEqual({
    default: {
      provider: 'compatible',
      baseUrl: 'http://localhost:11434/v1',
      model: 'm',
      context: 100_000,
    },
    fallback: [],
    compaction: undefined,
    named: {},
  })
  const greedy = 'model:\n  default: { baseUrl: "http://h/v1", model: m, context: 4096, maxOutput: 4096 }'
  expect(() => load(greedy)).toThrow('FILE:2: model.default.maxOutput: must be at most half of context')
})

test('a login that nobody can mean is refused, and keys of other programs are warned of', () => {
  const remote = (oauth: string) => load(`servers: { remote: { url: "https://h/mcp", oauth: ${oauth} } }`)
  expect(() => remote('{ grant: client_credentials, clientId: me }')).toThrow(
    'FILE:1: servers.remote.oauth: the grant client_credentials needs clientId and clientSecret',
  )
  expect(() => remote('{ grant: password }')).toThrow('servers.remote.oauth.grant')
  const { servers, warnings } = remote('{ clientId: me, callbackPort: 8080 }')
  expect(servers).toMatchObject({ remote: { oauth: { grant: 'authorization_code', clientId: 'me' } } })
  expect(warnings.join()).toContain('servers.remote.oauth.callbackPort: not a key that the hub knows')
})

test('a key without a model is warned of, and so are unknown keys of a server', () => {
  expect(load(undefined, { OPENAI_API_KEY: 'sk' }).warnings).toEqual([
    'OPENAI_API_KEY set without SUPERBLOOM_MODEL: the built-in commands answer',
  ])
  const config = load(
    'mcpServers: { files: { command: npx, trust: true, alwaysAllow: [], autoApprove: [] }, metrics: false }',
  )
  expect(config.servers).toMatchObject({ files: { command: 'npx' }, metrics: false })
  expect(config.warnings.map(text => text.replace(/^.*: servers/, 'servers'))).toEqual([
    'servers.files.alwaysAllow: not a key that the hub knows; ignored',
    'servers.files.autoApprove: not a key that the hub knows; ignored',
  ])
})

test("an entry that gives a server the owner's token is warned of, without the token", () => {
  const entry = (name: string, variable: string) =>
    `${name}: { url: "http://${name}", headers: { Authorization: "Bearer \${${variable}}" } }`
  const text = `servers: { ${entry('a', 'SUPERBLOOM_TOKEN')}, ${entry('b', 'TOKEN_B')} }`
  const variables = { SUPERBLOOM_TOKEN: 'token-of-the-owner', TOKEN_B: 'token-of-server-b' }
  expect(load(text, variables).warnings.map(line => line.replace(/^.*: servers/, 'servers'))).toEqual([
    "servers.a: is given the owner's token, which opens everything; give it one of its own",
  ])
})

test.for([
  ['timezone: Mars/Base', {}, 'FILE:1: timezone: is not an IANA time zone'],
  ['concurrency: 0', {}, 'FILE:1: concurrency: '],
  ['\nservers:\n  files: { url: "ftp://x" }', {}, 'FILE:3: servers.files.url: '],
  ['\nservers:\n  hub: { command: x }', {}, 'FILE:3: servers.hub: must not be hub, which is the hub itself'],
  ['servers: { a: {command: x} }\nmcpServers: { a: {command: y} }', {}, 'FILE: a: stands under both'],
  ['budgets: {}', {}, 'FILE:1: budgets: no such key'],
  ['budget: { perDay: 1 }', {}, 'FILE:1: budget.perDay: no such key'],
  ['\nbudget:\n  moneyPerDay: 5', {}, 'FILE:3: budget.moneyPerDay: money cannot be limited without prices'],
  ['retention: { days: 0 }', {}, 'FILE:1: retention.days: '],
  ['tools: { approve: delete_x }', {}, 'FILE:1: tools.approve: '],
  [undefined, { SUPERBLOOM_CONFIG: '/nowhere.yaml' }, 'SUPERBLOOM_CONFIG: there is no file /nowhere.yaml'],
  [undefined, { SUPERBLOOM_PORT: '70000' }, 'SUPERBLOOM_PORT: 70000 is not a port'],
  [undefined, { SUPERBLOOM_PORT: '1.5' }, 'SUPERBLOOM_PORT: 1.5 is not a port'],
  [
    undefined,
    { SUPERBLOOM_PUBLIC_URL: 'hub.example' },
    'SUPERBLOOM_PUBLIC_URL: hub.example is not an http://',
  ],
  [undefined, { SUPERBLOOM_TOKEN: 'short' }, 'SUPERBLOOM_TOKEN: must be at least 16 letters'],
  [undefined, { LOG_LEVEL: 'loud' }, 'LOG_LEVEL: loud is none of debug, info, warn, error'],
  [undefined, { SUPERBLOOM_MODEL: 'm', OPENAI_BASE_URL: 'x' }, 'OPENAI_BASE_URL: x is not an http://'],
  [
    undefined,
    { SUPERBLOOM_MODEL: 'm', SUPERBLOOM_MODEL_CONTEXT: '100' },
    'SUPERBLOOM_MODEL_CONTEXT: 100 is not',
  ],
  [undefined, { SUPERBLOOM_MODEL_CONTEXT: '-1' }, 'SUPERBLOOM_MODEL_CONTEXT: -1 is not a number of tokens'],
  [
    'model: { default: { baseUrl: "http://h/v1", model: m } }',
    { SUPERBLOOM_MODEL_CONTEXT: '8k' },
    '8k is not',
  ],
  [undefined, { SUPERBLOOM_CRASH_HOLD: 'yes' }, 'SUPERBLOOM_CRASH_HOLD: yes is neither 0 nor 1'],
  [undefined, { SUPERBLOOM_PORT: ' ' }, 'SUPERBLOOM_PORT:   is not a port'],
  [undefined, { SUPERBLOOM_HOST: 'http://hub' }, 'SUPERBLOOM_HOST: http://hub is not an address or a name'],
  [
    undefined,
    { SUPERBLOOM_PUBLIC_URL: 'https://hub/?a=b' },
    'SUPERBLOOM_PUBLIC_URL: https://hub/?a=b is not',
  ],
  [
    undefined,
    { SUPERBLOOM_STORE: 'mysql://hub:swordfish@db/x' },
    'SUPERBLOOM_STORE: not the address of a PostgreSQL database, such as postgres://user:password@host:5432/superbloom',
  ],
  [undefined, { SUPERBLOOM_STORE: 'postgres://db:5432' }, 'SUPERBLOOM_STORE: not the address'],
  [undefined, { SUPERBLOOM_CONFIG: '/' }, '/: cannot be read: EISDIR'],
] as const)('%j with %j is refused: %s', ([text, variables, message]) => {
  expect(() => load(text, variables)).toThrow(expect.objectContaining({ code: 'bad_request' }))
  expect(() => load(text, variables)).toThrow(message)
})

test('an empty file beside a fuller copy is told', () => {
  using folder = makeTempFolder()
  const file = join(folder.path, 'superbloom.yaml')
  writeFileSync(file, '\n')
  const warnings = () => loadConfig(createEnvironment({ SUPERBLOOM_CONFIG: file })).warnings
  expect(warnings()).toEqual([])
  writeFileSync(`${file}.bak`, 'tools: { deny: ["*"] }\n')
  expect(warnings().join()).toMatch(/superbloom\.yaml: is empty, and .*\.bak is not: .*copy it back/)
})
