import { expect, test } from 'vitest'
import { parseCpuTimes, parseNetwork } from './counters.ts'

test('waiting for a disk is idle, stolen time is not, and guests are not counted twice', () => {
  //           user nice sys idle iowait irq softirq steal guest guest_nice
  const stat = 'cpu  10 20 30 400 50 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n'
  expect(parseCpuTimes(stat)).toEqual({ busy: 10 + 20 + 30 + 6 + 7 + 8, total: 81 + 450 })
})

test('leaves out the loopback and the ends of containers, and keeps what carries traffic', () => {
  const line = (name: string) => `${name}: 11 2 3 4 5 6 7 8 99 10 11 12 13 14 15 16`
  const names = ['lo', 'eth0', 'veth0a1b2c', 'ifb0', 'cali123', 'br-1234', 'wg0', 'bond0.20']
  const text = ['Inter-| Receive', ' face |bytes', ...names.map(name => `  ${line(name)}`), ''].join('\n')
  expect(parseNetwork(text).map(({ name }) => name)).toEqual(['eth0', 'br-1234', 'wg0', 'bond0.20'])
  expect(parseNetwork(text)[0]).toEqual({ name: 'eth0', receivedBytes: 11, sentBytes: 99 })
})

test('reads figures without a space after the name, as old kernels write large ones', () => {
  expect(parseNetwork('eth0:123456789 1 0 0 0 0 0 0 5 0 0 0 0 0 0 0')).toEqual([
    { name: 'eth0', receivedBytes: 123456789, sentBytes: 5 },
  ])
})
