import { type FaultyUpstream, ok, startFaultyUpstream } from './faulty-upstream.ts'

export const ID = 'a'.repeat(64)
export const RUNNING = {
  Status: 'running',
  StartedAt: '2026-11-22T05:10:14.105841099Z',
  FinishedAt: '0001-01-01T00:00:00Z',
}

/** Returns a container as the engine's API describes it. */
export const inspected = (more: { State?: object; Config?: object; HostConfig?: object } = {}) => ({
  Id: ID,
  Name: '/quake',
  RestartCount: 2,
  State: { ...RUNNING, ...more.State },
  Config: { Image: 'quake:3', Labels: null, Tty: false, ...more.Config },
  HostConfig: { Memory: 0, ...more.HostConfig },
})

/** Starts Docker's API with its version and one container, quake. */
export function startFakeDocker(): Promise<FaultyUpstream> {
  return startFaultyUpstream({
    'GET /containers/quake/json': ok(inspected()),
    'GET /version': ok({ Version: '28.1.1', Components: [{ Name: 'Engine', Version: '28.1.1' }] }),
  })
}
