import { afterAll, beforeAll } from 'vitest'
import { testEngine } from './setup/engine-suite.ts'
import { type Podman, startPodman } from './setup/podman.ts'

let podman: Podman
beforeAll(async () => {
  podman = await startPodman()
})
afterAll(() => podman?.[Symbol.asyncDispose]())

testEngine('Podman', () => ({ ...podman, command: podman.podman }))
