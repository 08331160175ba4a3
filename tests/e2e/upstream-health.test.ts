import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FakeProgram, startFakeProgram } from '../../servers/downloads/testing/fake-programs.ts'
import { runCli } from '../support/cli.ts'
import { openClient } from '../support/clients.ts'
import { untilReady } from '../support/downstream.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'

let program: FakeProgram
let hub: TestHub
beforeAll(async () => {
  program = await startFakeProgram('qbittorrent')
  const env = { ...program.environment, SABNZBD_URL: 'http://127.0.0.1:2', SABNZBD_API_KEY: 'k' }
  hub = await startTestHub({
    config: `servers:\n  metrics: false\n  media: { env: { RADARR_URL: "http://127.0.0.1:2" } }\n  downloads: { env: ${JSON.stringify(env)} }\n`,
  })
  await untilReady(hub, 'downloads')
  await untilReady(hub, 'media')
})
afterAll(async () => {
  await hub?.[Symbol.asyncDispose]()
  await program?.upstream[Symbol.asyncDispose]()
})
const doctor = () => runCli(['doctor'], { cwd: hub.folder, variables: hub.variables })

test('doctor asks the programs behind the servers, and says which cannot be used and why', async () => {
  const { code, stdout } = await doctor()
  expect(stdout).toMatch(/^ok +server downloads: qbittorrent at http:\S+ answers, version /m)
  expect(stdout).toMatch(
    /^PROBLEM server downloads: sabnzbd at http:\S+ cannot be used: .* could not be reached/m,
  )
  expect(stdout).toMatch(/^2 to mend\.$/m)
  expect(code).toBe(1)
})

test('a program that lacks a setting is told of by its server, which serves the others', async () => {
  const { stdout } = await doctor()
  expect(stdout).toMatch(
    /^PROBLEM server media: radarr at RADARR_URL cannot be used: .*RADARR_API_KEY is not set.*Where to find it: Radarr: Settings/m,
  )
})

test('doctor asks them also where no hub runs, and ends', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'doctor-'))
  const variables = { ...hub.variables, SUPERBLOOM_DATA: folder }
  const { code, stdout } = await runCli(['doctor'], { cwd: folder, variables })
  rmSync(folder, { recursive: true, force: true })
  expect(stdout).toMatch(/^warning hub: No hub runs on the data folder/m)
  expect(stdout).toMatch(/^ok +server downloads: qbittorrent at http:\S+ answers, version /m)
  expect(stdout).toMatch(
    /^PROBLEM server downloads: sabnzbd at http:\S+ cannot be used: .* could not be reached/m,
  )
  expect(stdout).toMatch(
    /^PROBLEM server media: radarr at RADARR_URL cannot be used: .*RADARR_API_KEY is not set/m,
  )
  expect(code).toBe(1)
})

test('hub_status asks them only when told to', async () => {
  await using client = await openClient('sdk 1', hub)
  const short = await client.call('hub_status', {})
  expect(JSON.stringify(short.structuredContent)).not.toContain('upstreams')
  const long = await client.call('hub_status', { health: true })
  expect(long.structuredContent).toMatchObject({
    servers: [
      { name: 'media' },
      {
        name: 'downloads',
        upstreams: [
          { name: 'sabnzbd', ok: false },
          { name: 'qbittorrent', ok: true },
        ],
      },
    ],
  })
})

test('what a server of the hub keeps lies in the data folder of the hub', async () => {
  await using client = await openClient('sdk 1', hub)
  await client.call('pause_downloads', { minutes: 30, client: 'qbittorrent' })
  expect(existsSync(join(hub.dataFolder, 'downloads.json'))).toBe(true)
})
