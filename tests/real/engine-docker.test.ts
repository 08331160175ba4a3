import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../servers/kit/clock.ts'
import { openEngine } from '../../servers/kit/docker/docker.ts'
import type { ContainerEvent } from '../../servers/kit/docker/engine.ts'
import { createRecord, until } from '../support/until.ts'
import { type Dockerd, startDockerd } from './setup/dockerd.ts'
import { testEngine } from './setup/engine-suite.ts'
import { freePort } from './setup/scratch.ts'

let dockerd: Dockerd
beforeAll(async () => {
  dockerd = await startDockerd()
})
afterAll(() => dockerd?.[Symbol.asyncDispose]())

testEngine('Docker', () => ({ ...dockerd, command: dockerd.docker }))

test('an end for too much memory is told before the end, and health when it changes', async () => {
  const engine = openEngine({ name: 'docker', address: dockerd.socket, clock: systemClock })
  const events = createRecord<ContainerEvent>()
  const ending = new AbortController()
  const ready = Promise.withResolvers<void>()
  const following = engine.follow(events.add, ending.signal, ready.resolve)
  await ready.promise
  // The engine watches a container's memory only after its start.
  await dockerd.run('hungry', ['--memory', '20m'], 'sh', '-c', 'sleep 1; tail /dev/zero')
  await events.find('hungry died', ({ name, kind }) => name === 'hungry' && kind === 'die')
  const check = ['--health-cmd', 'false', '--health-interval', '1s', '--health-retries', '1']
  await dockerd.run('ill', check, 'sleep', '100')
  await events.find('ill is ill', ({ name, health }) => name === 'ill' && health === 'unhealthy')
  ending.abort()
  await following
  const hungry = events.all.filter(({ name }) => name === 'hungry')
  expect(hungry.map(({ kind, exitCode }) => [kind, exitCode])).toEqual([
    ['start', undefined],
    ['oom', undefined],
    ['die', 137],
  ])
})

test('an engine that ends while it is followed is told, and one that is gone is told', async () => {
  const other = await startDockerd()
  const engine = openEngine({ name: 'docker', address: other.socket, clock: systemClock })
  const ready = Promise.withResolvers<void>()
  const following = engine.follow(() => undefined, new AbortController().signal, ready.resolve)
  const ended = expect(following).rejects.toMatchObject({ kind: 'unreachable', transient: true })
  await ready.promise
  await other[Symbol.asyncDispose]()
  await ended
  await until('it is gone', () =>
    engine.version().then(
      () => false,
      () => true,
    ),
  )
  await expect(engine.list({})).rejects.toMatchObject({
    failure: { what: expect.stringContaining('could not be reached'), why: 'there is no such socket' },
  })
})

test('over TLS, with certificates of an authority of its own', async () => {
  const certificates = makeCertificates()
  onTestFinished(() => rmSync(certificates, { recursive: true, force: true }))
  const address = `tcp://127.0.0.1:${await freePort()}`
  const files = ['ca', 'server-cert', 'server-key'].map(name => join(certificates, `${name}.pem`))
  const [ca, cert, key] = files
  await using daemon = await startDockerd(
    `--host=${address}`,
    '--tlsverify',
    `--tlscacert=${ca}`,
    `--tlscert=${cert}`,
    `--tlskey=${key}`,
  )
  await daemon.run('encrypted', [], 'sleep', '100')
  const engine = openEngine({ name: 'nas', address, certificates, clock: systemClock })
  expect(engine.address).toBe(address.replace('tcp:', 'https:'))
  expect((await engine.list({})).map(({ name }) => name)).toEqual(['encrypted'])
  expect(await engine.stop('encrypted', 0)).toBe(true)

  const bare = openEngine({ name: 'nas', address: engine.address, clock: systemClock })
  await expect(bare.list({})).rejects.toMatchObject({
    kind: 'unreachable',
    failure: { why: expect.stringContaining('encrypted connection') },
  })
  const plain = openEngine({ name: 'nas', address, clock: systemClock })
  await expect(plain.list({})).rejects.toMatchObject({ failure: { why: expect.stringContaining('HTTPS') } })
})

/**
 * Creates a folder with an authority, and certificates signed by it: for the server (127.0.0.1) and for the
 * client.
 */
function makeCertificates(): string {
  const folder = mkdtempSync(join(tmpdir(), 'certificates-'))
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' })
  const create = ['req', '-x509', '-nodes', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']
  openssl(...create, '-subj', '/CN=lab', '-keyout', 'ca-key.pem', '-out', 'ca.pem')
  const sign = (name: string, ...extensions: string[]) =>
    openssl(
      ...create,
      ...['-CA', 'ca.pem', '-CAkey', 'ca-key.pem', '-subj', `/CN=${name}`],
      ...extensions.flatMap(extension => ['-addext', extension]),
      ...['-keyout', name === 'client' ? 'key.pem' : 'server-key.pem'],
      ...['-out', name === 'client' ? 'cert.pem' : 'server-cert.pem'],
    )
  const leaf = 'basicConstraints=critical,CA:FALSE'
  sign('server', leaf, 'subjectAltName=IP:127.0.0.1', 'extendedKeyUsage=serverAuth')
  sign('client', leaf, 'extendedKeyUsage=clientAuth')
  return folder
}
