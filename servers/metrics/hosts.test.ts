import { expect, test } from 'vitest'
import { readInstances } from '../kit/instances.ts'
import { createFakeClock } from '../kit/testing/fake-clock.ts'
import { nodeExporterSpec } from './config.ts'
import { openHosts } from './hosts.ts'
import { createSampler } from './machine/sampler.ts'
import { createFakeMachine } from './testing/fake-machine.ts'

function open(environment: Record<string, string>) {
  const clock = createFakeClock()
  const machine = createFakeMachine()
  const local = { name: 'nas', machine, sampler: createSampler(machine, clock) }
  return openHosts(local, readInstances(nodeExporterSpec, environment), clock)
}

test('hosts are called as their variables say, the one without a name as its address says', () => {
  const hosts = open({
    NODE_EXPORTER_URL: 'http://pi.home:9100',
    NODE_EXPORTER_LIVING_ROOM_URL: 'http://10.0.0.5:9100',
    NODE_EXPORTER_ATTIC_URL: 'http://attic:9100',
  })
  expect(hosts.remote.map(({ name }) => name)).toEqual(['pi.home', 'attic', 'living-room'])
  expect(hosts.pick(undefined).name).toBe('nas')
  expect(hosts.pick(' ATTIC ').name).toBe('attic')
  expect(() => hosts.pick('cellar')).toThrow('no host called "cellar"')
})

test('an exporter of a name that is taken gets another, so that its events are its own', () => {
  const hosts = open({ NODE_EXPORTER_URL: 'http://Nas:9100', NODE_EXPORTER_NAS_URL: 'http://nas:9101' })
  expect(hosts.remote.map(({ name }) => name)).toEqual(['nas-2', 'nas-3'])
})
