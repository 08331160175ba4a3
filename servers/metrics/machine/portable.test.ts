import { expect, test } from 'vitest'
import { createPortableMachine } from './portable.ts'

/** systeminformation reads Linux too, so the machine for other systems can be tested here. */
test('tells of a machine what systeminformation knows, and leaves out what it does not', async () => {
  let time = 0
  const machine = createPortableMachine({ monotonic: () => time++, hostName: 'mac' })
  expect(await machine.about()).toMatchObject({ host: 'mac', kernel: expect.any(String) })
  const [first, second] = [await machine.counters(), await machine.counters()]
  expect(second.cpu.total).toBeGreaterThanOrEqual(first.cpu.total)
  expect(first.cpu.total).toBeGreaterThan(first.cpu.busy)
  expect(first.network.map(({ name }) => name)).not.toContain('lo')
  expect((await machine.cpu()).cores).toBeGreaterThan(0)
  const memory = await machine.memory()
  expect(memory.totalBytes).toBeGreaterThan(memory.availableBytes)
  const { disks } = await machine.disks()
  expect(disks.find(({ mount }) => mount === '/')?.totalBytes).toBeGreaterThan(0)
  for (const { celsius } of await machine.temperatures()) expect(celsius).toBeGreaterThan(0)
  const processes = await machine.processes(() => Promise.resolve())
  expect(processes.find(({ pid }) => pid === process.pid)?.memoryBytes).toBeGreaterThan(0)
  for (const drive of await machine.drives(new AbortController().signal))
    expect(drive.health ?? drive.unknown).toBeDefined()
})
