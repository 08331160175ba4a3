import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../hub/core/clock.ts'
import { findPrograms } from '../../hub/programs/find-programs.ts'
import { PROGRAMS } from '../../hub/programs/programs.ts'
import { startRealNtfy } from './setup/ntfy.ts'
import { startPrometheusLab } from './setup/prometheus.ts'
import { startQbittorrent } from './setup/qbittorrent.ts'
import { startSabnzbd } from './setup/sabnzbd.ts'
import { startTransmission } from './setup/transmission.ts'

const opened = new AsyncDisposableStack()
let addresses: Record<string, string>
beforeAll(async () => {
  const [sabnzbd, qbittorrent, transmission, lab, ntfy] = await Promise.all([
    startSabnzbd().then(one => opened.use(one)),
    startQbittorrent().then(one => opened.use(one)),
    startTransmission().then(one => opened.use(one)),
    startPrometheusLab().then(one => opened.use(one)),
    startRealNtfy().then(one => opened.use(one)),
  ])
  addresses = {
    sabnzbd: sabnzbd.url,
    qbittorrent: qbittorrent.url,
    transmission: transmission.url,
    prometheus: lab.prometheus,
    alertmanager: lab.alertmanager,
    'node-exporter': lab.nodeExporter,
    ntfy: ntfy.url,
  }
})
afterAll(() => opened.disposeAsync())

test('each program is recognised by what it answers without a key, and is taken for no other', async () => {
  const ports = Object.values(addresses).map(url => Number(new URL(url).port))
  const programs = PROGRAMS.map(program => ({
    ...program,
    ...(program.probe && { probe: { ...program.probe, ports } }),
  }))
  const found = await findPrograms({ programs, hosts: ['127.0.0.1'], clock: systemClock })
  expect(Object.fromEntries(found.map(({ program, address }) => [program.name, address]))).toEqual(addresses)
  expect(found).toHaveLength(ports.length)
  const versioned = found.filter(({ version }) => version !== undefined).map(({ program }) => program.name)
  expect(versioned.sort()).toEqual(['alertmanager', 'prometheus', 'sabnzbd'])
})
