import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import {
  CERTIFICATE,
  CERTIFICATE_KEY,
  ENDED_CERTIFICATE,
  SIGNED_CERTIFICATE,
  SIGNED_KEY,
} from '../support/certificate.ts'
import { launcher, runCli } from '../support/cli.ts'
import { openClient } from '../support/clients.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'

const TLS = 'servers: { metrics: false }\ntls: { cert: live/cert.pem, key: live/key.pem }\n'
const toFingerprint = (pem: string) => new X509Certificate(pem).fingerprint256
const [SELF_SIGNED, SIGNED] = [toFingerprint(CERTIFICATE), toFingerprint(SIGNED_CERTIFICATE)]

let hub: TestHub
/** Writes the files as certbot does: the names are links that a renewal replaces. */
function issue(name: string, cert: string, key: string) {
  for (const [file, text] of Object.entries({ cert, key })) {
    writeFileSync(join(hub.folder, `${file}-${name}.pem`), text)
    symlinkSync(`../${file}-${name}.pem`, join(hub.folder, 'live', `${file}.new`))
    renameSync(join(hub.folder, 'live', `${file}.new`), join(hub.folder, 'live', `${file}.pem`))
  }
}

/** Asks whether the hub is alive, whatever certificate it has; returns the certificate's fingerprint. */
async function look() {
  const sent = request(`${hub.url}/healthz`, { rejectUnauthorized: false, agent: false })
  sent.end()
  const [response] = await once(sent, 'response')
  response.resume()
  expect(response.statusCode).toBe(200)
  return (response.socket as TLSSocket).getPeerX509Certificate()?.fingerprint256
}

const cli = (...args: string[]) => runCli(args, { cwd: hub.folder, variables: hub.variables })

beforeAll(async () => {
  hub = await startTestHub()
  await hub.stop()
  mkdirSync(join(hub.folder, 'live'))
  issue('1', CERTIFICATE, CERTIFICATE_KEY)
  hub.writeConfig(TLS)
  await hub.start()
})
afterAll(() => hub[Symbol.asyncDispose]())

/** Uses every way in which commands reach the hub. */
async function tryCommands() {
  expect(await cli('status')).toMatchObject({ code: 0, stdout: expect.stringContaining(hub.url) })
  expect(await cli('ask', 'homelab', '/help')).toMatchObject({ code: 0, stderr: '' })
  expect((await cli('servers', 'logout', 'nobody')).stdout).toContain('There was no login at nobody')
  const env = { PATH: String(process.env['PATH']), HOME: hub.folder, SUPERBLOOM_DATA: hub.dataFolder }
  await using bridge = await openClient('sdk 1', {
    command: process.execPath,
    args: [launcher, 'mcp'],
    env,
    cwd: hub.folder,
  })
  expect((await bridge.listTools()).map(({ name }) => name)).toContain('hub_status')
}

test('the hub speaks https and wss, and the commands of its machine trust its certificate', async () => {
  expect(hub.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
  expect(await look()).toBe(SELF_SIGNED)
  const socket = new WebSocket(`${hub.url.replace('https', 'wss')}/ws`, 'superbloom.v1', {
    headers: { Authorization: `Bearer ${hub.token}` },
    ca: CERTIFICATE,
  })
  const [welcome] = await once(socket, 'message')
  expect(JSON.parse(String(welcome))).toMatchObject({ type: 'welcome' })
  socket.terminate()
  await tryCommands()
  const { stdout } = await cli('doctor')
  expect(stdout).toMatch(/ok +https: the certificate .*cert\.pem holds until \w+ 2126-10-29/)
  expect(stdout).toMatch(/ok +hub: .* answers at https:/)
})

test('a renewed certificate serves without a restart, also one that the hub is not reached under', async () => {
  const socket = new WebSocket(`${hub.url.replace('https', 'wss')}/ws`, 'superbloom.v1', {
    headers: { Authorization: `Bearer ${hub.token}` },
    ca: CERTIFICATE,
  })
  await once(socket, 'message')
  issue('2', SIGNED_CERTIFICATE, SIGNED_KEY)
  await hub.logs.find('it is renewed', ({ event }) => event === 'certificate_renewed')
  expect(await look()).toBe(SIGNED)
  await tryCommands()
  socket.send('{"type":"ping"}')
  const [pong] = await once(socket, 'message')
  expect(JSON.parse(String(pong))).toEqual({ type: 'pong' })
  socket.terminate()
})

test('a wrong renewal keeps the certificate that serves, says what is wrong, and holds up no other change', async () => {
  const from = hub.logs.all.length
  const told = () => hub.logs.find('it is told', ({ event }) => event === 'config_warning', from)
  issue('3', CERTIFICATE, SIGNED_KEY)
  expect((await told())['message']).toMatch(/superbloom\.yaml: tls: .*key values mismatch.* goes on to serve/)
  expect(await look()).toBe(SIGNED)
  const before = hub.logs.all.length
  hub.writeConfig(`${TLS}tools: { deny: ["x_*"] }\n`)
  await hub.logs.find('the change is in force', ({ event }) => event === 'config_changed', before)
  expect((await cli('status')).stdout).toContain('goes on to serve')
  issue('ended', ENDED_CERTIFICATE, SIGNED_KEY)
  await hub.logs.find('it is told', ({ message }) => String(message).includes('has ended'), from)
  expect(await look()).toBe(SIGNED)
  issue('4', CERTIFICATE, CERTIFICATE_KEY)
  await hub.logs.find('it is renewed', ({ event }) => event === 'certificate_renewed', from)
  expect(await look()).toBe(SELF_SIGNED)
})

test('commands send the token to no other certificate', async () => {
  const file = join(hub.dataFolder, 'hub.json')
  const known = readFileSync(file, 'utf8')
  expect(JSON.parse(known).certificate).toBe(CERTIFICATE)
  writeFileSync(file, JSON.stringify({ ...JSON.parse(known), certificate: SIGNED_CERTIFICATE }))
  const { code, stderr } = await cli('status')
  writeFileSync(file, known)
  expect([code, stderr]).toEqual([1, expect.stringMatching(/does not answer: .*self-signed certificate/)])
})

test('a file that cannot be used ends the start with exit code 78 and what to do', async () => {
  const config = join(hub.folder, 'other.yaml')
  const variables = {
    ...hub.variables,
    SUPERBLOOM_CONFIG: config,
    SUPERBLOOM_DATA: join(hub.folder, 'other'),
  }
  for (const [cert, why] of [
    ['none.pem', 'no such file or directory'],
    ['key-4.pem', 'no start line'],
    ['cert-2.pem', 'key values mismatch'],
  ]) {
    writeFileSync(config, `tls: { cert: ${cert}, key: key-4.pem }\n`)
    const ended = await runCli(['start'], { cwd: hub.folder, variables })
    expect([cert, ended.code, ended.stderr]).toEqual([cert, 78, expect.stringContaining(String(why))])
    expect(ended.stderr).toContain('both PEM files')
  }
})

test('https that is switched off in the file stays until the next start, and the status says so', async () => {
  const from = hub.logs.all.length
  hub.writeConfig('servers: { metrics: false }\n')
  await hub.logs.find('it is read', ({ event }) => event === 'config_changed', from)
  expect(await look()).toBe(SELF_SIGNED)
  expect((await cli('status')).stdout).toContain(
    'tls in superbloom.yaml: the hub changes between http and https',
  )
})

test('a hub whose certificate has ended starts, and the log and doctor say so', async () => {
  await hub.stop()
  issue('ended', ENDED_CERTIFICATE, SIGNED_KEY)
  hub.writeConfig(TLS)
  await hub.start()
  const words = /https: the certificate .*cert\.pem ended Thu 2025-01-02 .*: renew it/
  const ended = await hub.logs.find(
    'it is told',
    ({ event }) => event === 'certificate_ended',
    hub.startedFrom,
  )
  expect(ended['message']).toMatch(words)
  expect((await cli('doctor')).stdout).toMatch(words)
  expect((await cli('status')).stderr).toContain('certificate has expired')
})
