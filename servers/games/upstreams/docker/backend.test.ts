import { expect, test } from 'vitest'
import { createFakeEngine, fakeContainer } from '../../../kit/testing/fake-engine.ts'
import { createDockerBackend } from './backend.ts'

test.each([
  [
    { state: 'running', startedAt: 5, health: 'healthy' },
    { state: 'running', detail: 'running', startedAt: 5, health: 'healthy' },
  ],
  [
    { state: 'restarting', restarts: 3 },
    { state: 'starting', restarts: 3 },
  ],
  [
    { state: 'restarting', restarts: 3, exitCode: 1 },
    { state: 'starting', exitCode: 1, detail: 'restarting after it ended with code 1' },
  ],
  [{ state: 'created' }, { state: 'stopped', stoppedAt: undefined }],
  [{ state: 'paused' }, { state: 'stopped', detail: 'paused' }],
  [
    { state: 'exited', exitCode: 0, finishedAt: 9 },
    { state: 'stopped', detail: 'exited with code 0', stoppedAt: 9 },
  ],
  [{ state: 'exited', exitCode: 143 }, { state: 'stopped' }],
  [{ state: 'exited', exitCode: 137 }, { state: 'stopped' }],
  [
    { state: 'exited', exitCode: 137, oom: true },
    { state: 'failed', oom: true },
  ],
  [
    { state: 'exited', exitCode: 1 },
    { state: 'failed', exitCode: 1 },
  ],
  [
    { state: 'created', error: 'no such file' },
    { state: 'stopped', detail: 'created: no such file' },
  ],
  [
    { state: 'running', oom: true, exitCode: 1 },
    { state: 'running', oom: false, exitCode: undefined },
  ],
] as const)('a container %j is %j', async (parts, state) => {
  const engine = createFakeEngine()
  engine.hold(fakeContainer('arena', parts))
  expect(await createDockerBackend('arena', () => engine).state()).toMatchObject(state)
})

test("a container that is gone is missing, and everything else is the engine's", async () => {
  const engine = createFakeEngine()
  const backend = createDockerBackend('arena', () => engine)
  expect(await backend.state()).toMatchObject({ state: 'missing' })
  await backend.start()
  await backend.stop(30)
  await backend.restart(20)
  expect(engine.asked).toEqual(['inspect arena', 'start arena', 'stop arena 30', 'restart arena 20'])
  expect(await backend.logs(1)).toEqual(['line 0\u001b[0m'])
  expect(await backend.use()).toEqual({ cpuPercent: 150.26, memoryBytes: 300 * 2 ** 20 })
})
