import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Daemon } from './dockerd.ts'

const run = promisify(execFile)

/** A cable between this machine and a Docker that has its own network. Disposing removes it. */
export interface NetworkLink extends AsyncDisposable {
  /** The address of this machine, which the containers reach. */
  readonly machine: string
  /** The address of the Docker, which publishes its ports there. */
  readonly docker: string
}

export async function linkNetwork({ pid }: Daemon): Promise<NetworkLink> {
  const link = `lab-${pid}`
  // 198.18.0.0/15 is reserved for tests of networks (RFC 2544). Another Docker gets another part of it.
  const part = (last: number) => `198.18.${(pid >> 6) & 255}.${((pid & 63) << 2) + last}`
  const [machine, docker] = [part(1), part(2)]
  const inside = ['--net', '--target', String(pid), 'ip']
  await run('ip', ['link', 'add', link, 'type', 'veth', 'peer', 'name', 'machine', 'netns', String(pid)])
  await run('ip', ['address', 'add', `${machine}/30`, 'dev', link])
  await run('ip', ['link', 'set', link, 'up'])
  await run('nsenter', [...inside, 'address', 'add', `${docker}/30`, 'dev', 'machine'])
  await run('nsenter', [...inside, 'link', 'set', 'machine', 'up'])
  return {
    machine,
    docker,
    [Symbol.asyncDispose]: async () => void (await run('ip', ['link', 'delete', link])),
  }
}
