import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { decideGroup, readOwners } from './owners.ts'

const ID = 'ab'.repeat(32)

test.each([
  ['0::/system.slice/nginx.service', { unit: 'nginx.service' }],
  ['0::/../../system.slice/cron.service', { unit: 'cron.service' }],
  [
    '0::/user.slice/user-1000.slice/user@1000.service/app.slice/syncthing.service',
    { unit: 'syncthing.service' },
  ],
  ['0::/user.slice/user-1000.slice/session-3.scope', { unit: 'session-3.scope' }],
  ['0::/system.slice/mc@atm.service/supervisor', { unit: 'mc@atm.service' }],
  [`0::/system.slice/docker-${ID}.scope`, { containerId: ID }],
  [`12:pids:/docker/${ID}\n1:name=systemd:/docker/${ID}`, { containerId: ID }],
  ['3:cpu:/\n1:name=systemd:/system.slice/ssh.service', { unit: 'ssh.service' }],
  ['0::/', {}],
  ['', {}],
])('%s', (cgroup, group) => {
  expect(decideGroup(cgroup)).toEqual(group)
})

test('names the user, and leaves out a process that is gone', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'owners-'))
  for (const [pid, uid] of [
    ['7', '1000'],
    ['8', '4242'],
  ] as const) {
    mkdirSync(join(folder, 'proc', pid), { recursive: true })
    writeFileSync(join(folder, 'proc', pid, 'status'), `Name:\tx\nUid:\t${uid}\t0\t0\t0\n`)
    writeFileSync(join(folder, 'proc', pid, 'cgroup'), '0::/system.slice/x.service\n')
  }
  mkdirSync(join(folder, 'etc'))
  writeFileSync(join(folder, 'etc/passwd'), 'root:x:0:0::/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\n')
  const owners = await readOwners({ host: folder, proc: join(folder, 'proc'), sys: '/sys' }, [7, 8, 9])
  expect([...owners]).toEqual([
    [7, { user: 'ann', unit: 'x.service' }],
    [8, { user: '4242', unit: 'x.service' }],
  ])
  rmSync(folder, { recursive: true })
})
