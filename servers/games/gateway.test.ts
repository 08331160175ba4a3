import { expect, test } from 'vitest'
import { toGateway } from './gateway.ts'

const HEAD = 'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n'
const NETWORK = 'eth0\t000012AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0\n'

test('the gateway of a container in a network of Compose', () => {
  const route = 'eth0\t00000000\t010012AC\t0003\t0\t0\t0\t00000000\t0\t0\t0\n'
  expect(toGateway(HEAD + NETWORK + route)).toBe('172.18.0.1')
})

test('no gateway without a default route', () => {
  expect(toGateway(HEAD + NETWORK)).toBeUndefined()
})
