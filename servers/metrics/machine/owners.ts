import { join } from 'node:path'
import type { Owner } from './machine.ts'
import { type Roots, readText } from './roots.ts'

/** Reads the owner of each process; a process that ended meanwhile is omitted. */
export async function readOwners(roots: Roots, pids: readonly number[]): Promise<Map<number, Owner>> {
  const users = toUsers((await readText(join(roots.host ?? '/', 'etc/passwd'))) ?? '')
  const found = await Promise.all(
    pids.map(async pid => {
      const [status, cgroup] = await Promise.all(
        ['status', 'cgroup'].map(file => readText(join(roots.proc, String(pid), file))),
      )
      const uid = /^Uid:\s+(\d+)/m.exec(status ?? '')?.[1]
      if (uid === undefined) return undefined
      return [pid, { user: users.get(uid) ?? uid, ...decideGroup(cgroup ?? '') }] as const
    }),
  )
  return new Map(found.filter(one => one !== undefined))
}

/** Parses passwd(5): names by number; the first one counts. */
function toUsers(passwd: string): Map<string, string> {
  const lines = passwd.split('\n').map(line => line.split(':'))
  return new Map(lines.map(([name = '', , uid = '']): [string, string] => [uid, name]).reverse())
}

/**
 * Decides the systemd unit or the container of a process from its control groups (cgroups(7)):
 * "0::/system.slice/nginx.service", "0::/system.slice/docker-<64 digits>.scope", "12:pids:/docker/<64
 * digits>", "…/user@1000.service/app.slice/x.service".
 */
export function decideGroup(cgroup: string): Pick<Owner, 'unit' | 'containerId'> {
  const containerId = /[0-9a-f]{64}/.exec(cgroup)?.[0]
  if (containerId !== undefined) return { containerId }
  const path = /^(?:0:|\d+:name=systemd):(.*)$/m.exec(cgroup)?.[1] ?? ''
  const unit = path.split('/').findLast(part => /\.(service|scope)$/.test(part))
  return unit === undefined ? {} : { unit }
}
