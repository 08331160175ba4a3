import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { OWNER_PRINCIPAL } from '../../tests/support/principals.ts'
import { createConfigEditor } from './config-editor.ts'
import { createEnvironment } from './environment.ts'
import { createHomeNetwork } from './home-network.ts'
import { loadConfig } from './load.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'superbloom-home-network-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const LAN = {
  eth0: [
    { address: '192.168.1.20', family: 'IPv4', internal: false, netmask: '', mac: '', cidr: null } as const,
  ],
}

function open(text: string, variables: Record<string, string> = {}) {
  const file = join(folder, 'superbloom.yaml')
  writeFileSync(file, text)
  const environment = createEnvironment({
    SUPERBLOOM_DATA: folder,
    SUPERBLOOM_CONFIG: file,
    SUPERBLOOM_HOST: '0.0.0.0',
    ...variables,
  })
  const config = { current: loadConfig(environment) }
  const editor = createConfigEditor({ file, check: () => undefined }, async () => {
    config.current = loadConfig(environment)
  })
  const url = () => 'http://127.0.0.1:8420'
  const network = createHomeNetwork({ config, editor, url, inContainer: false, interfaces: () => LAN })
  return { network, read: () => readFileSync(file, 'utf8') }
}

const REACHED = { kind: 'reached', urls: ['http://192.168.1.20:8420'] }

test('refused addresses are let in, beside the names and comments that stand there', async () => {
  const { network, read } = open('hosts:\n  # the old machine\n  - 10.9.9.9\n')
  expect(network.reach()).toEqual({ ...REACHED, refused: ['192.168.1.20'] })
  await network.letIn(OWNER_PRINCIPAL)
  expect(read()).toBe('hosts:\n  # the old machine\n  - "192.168.1.20"\n  - 10.9.9.9\n')
  expect(network.reach()).toEqual({ ...REACHED, refused: [] })
  expect(() => network.letIn(OWNER_PRINCIPAL)).toThrow('refuses no address')
})

test.each([
  [{ SUPERBLOOM_HOST: '127.0.0.1' }, { kind: 'alone' }],
  [
    { SUPERBLOOM_HOST: '127.0.0.1', SUPERBLOOM_PUBLIC_URL: 'https://hub.example.org' },
    { kind: 'reached', urls: ['https://hub.example.org'], refused: [] },
  ],
])('with %j it is reached as %j', (variables, found) => {
  expect(open('', variables).network.reach()).toEqual(found)
})
