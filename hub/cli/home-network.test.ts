import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { NetworkInterfaceInfoIPv4 } from 'node:os'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encode } from 'uqr'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readModules } from '../../tests/support/terminal-code.ts'
import { findAddresses } from '../config/reach.ts'
import { type NetworkDeps, tellNetwork } from './home-network.ts'

const ipv4 = (address: string, internal = false): NetworkInterfaceInfoIPv4 => ({
  address,
  internal,
  family: 'IPv4',
  netmask: '255.255.255.0',
  mac: '00:00:00:00:00:00',
  cidr: `${address}/24`,
})
const LAN = { lo: [ipv4('127.0.0.1', true)], eth0: [ipv4('192.168.1.20')] }

let folder: string
let said: string
let deps: NetworkDeps
const questions: string[] = []
const config = () => readFileSync(deps.configFile, 'utf8')

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'superbloom-network-'))
  said = ''
  questions.length = 0
  deps = {
    hub: { url: 'http://127.0.0.1:8420', makeLinkToken: async () => 'sb_one-time' },
    config: { host: '0.0.0.0', hosts: [], publicUrl: undefined },
    configFile: join(folder, 'superbloom.yaml'),
    interfaces: LAN,
    inContainer: false,
    ask: undefined,
    print: text => {
      said += `${text}\n`
    },
  }
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const answer = (text: string) => async (question: string) => {
  questions.push(question)
  return text
}

test('the addresses of real networks come, private ones first, without loopback, bridges and link-local ones', () => {
  const found = findAddresses({
    ...LAN,
    ens3: [ipv4('203.0.113.9')],
    tailscale0: [ipv4('100.101.102.103')],
    docker0: [ipv4('172.17.0.1')],
    'br-0123456789ab': [ipv4('172.18.0.1')],
    'br-lan': [ipv4('10.1.2.3')],
    veth0a: [ipv4('192.168.9.9')],
    eth1: [ipv4('169.254.3.4')],
  })
  expect(found).toEqual(['192.168.1.20', '10.1.2.3', '203.0.113.9', '100.101.102.103'])
})

test.each(['127.0.0.1', 'localhost', '::1', '127.0.0.2'])(
  'a hub at %s says nothing of the network',
  async host => {
    await tellNetwork({ ...deps, config: { ...deps.config, host } })
    expect(said).toBe('')
  },
)

test('without a terminal: the address, that it is refused, the line to add, and no way in', async () => {
  await tellNetwork(deps)
  expect(said.trim().split('\n')).toEqual([
    'From other devices: http://192.168.1.20:8420',
    'The hub refuses requests there until superbloom.yaml names these addresses.',
    `To let them in, write into ${deps.configFile}: hosts: ["192.168.1.20"]`,
  ])
  expect(existsSync(deps.configFile)).toBe(false)
})

test('a hub with a certificate of its own is reached over https', async () => {
  await tellNetwork({ ...deps, hub: { ...deps.hub, url: 'https://127.0.0.1:8420' }, ask: answer('y') })
  expect(said).toContain('From other devices: https://192.168.1.20:8420')
  expect(said).toContain('https://192.168.1.20:8420/#token=sb_one-time')
  expect(said).not.toContain('Over http nothing is encrypted')
})

test.each(['', 'n', 'no', 'maybe'])('the answer "%s" changes nothing and makes no link', async text => {
  await tellNetwork({ ...deps, ask: answer(text) })
  expect(questions).toEqual([`Write hosts: ["192.168.1.20"] into ${deps.configFile}? [y/N] `])
  expect(existsSync(deps.configFile)).toBe(false)
  expect(said).not.toContain('sb_one-time')
})

test('a yes writes the addresses into the config, and the code has the link', async () => {
  writeFileSync(deps.configFile, 'timezone: UTC # ours\n')
  await tellNetwork({ ...deps, ask: answer('y\n') })
  expect(config()).toBe('timezone: UTC # ours\nhosts: ["192.168.1.20"]\n')
  expect(readFileSync(`${deps.configFile}.bak`, 'utf8')).toBe('timezone: UTC # ours\n')
  expectCode('http://192.168.1.20:8420/#token=sb_one-time')
  expect(said).toContain('once and within ten minutes')
  expect(said).toContain('nothing is encrypted')
})

test.each([
  [{ hosts: ['192.168.1.20'] }, 'http://192.168.1.20:8420'],
  [{ hosts: ['10.9.9.9', 'nas.lan'] }, 'http://nas.lan:8420'],
  [{ host: '192.168.1.20' }, 'http://192.168.1.20:8420'],
  [{ publicUrl: 'https://hub.example.org' }, 'https://hub.example.org'],
])('with %j nothing is asked, and the code leads to %s', async (more, url) => {
  await tellNetwork({ ...deps, config: { ...deps.config, ...more }, ask: answer('y') })
  expect(questions).toEqual([])
  expectCode(`${url}/#token=sb_one-time`)
})

test('in a container its own addresses are not told', async () => {
  await tellNetwork({ ...deps, inContainer: true, ask: answer('y') })
  expect(said).toMatch(
    /^A container does not know the addresses of its machine: .*hosts in superbloom\.yaml\.\n$/,
  )
})

function expectCode(link: string): void {
  expect(said).toContain(`\n${link}\n`)
  expect(readModules(said)).toEqual(encode(link, { border: 2 }).data)
}
