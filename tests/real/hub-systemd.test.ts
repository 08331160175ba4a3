import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { root } from '../support/built.ts'
import { until } from '../support/until.ts'
import { type SystemdUser, startSystemdUser } from './setup/systemd-user.ts'

/* docs/superbloom.service in a real systemd of a user, which cannot run it as another user. */

let systemd: SystemdUser
/** Returns a path in the folder that a user's systemd uses for StateDirectory=. */
const place = (...path: string[]) => join(systemd.env.XDG_CONFIG_HOME, 'superbloom', ...path)
const show = (property: string) => systemd.systemctl('show', '-P', property, 'superbloom')
const hubFile = () => JSON.parse(readFileSync(place('data/hub.json'), 'utf8')) as { pid: number; url: string }
const answer = async () => (await fetch(`${hubFile().url}/healthz`)).status

beforeAll(async () => {
  systemd = await startSystemdUser()
  const unit = readFileSync(join(root, 'docs/superbloom.service'), 'utf8')
  const [removed] = /^User=.*\n/m.exec(unit) ?? []
  expect(removed).toBe('User=superbloom\n')
  const here = unit
    .replace(/^User=.*\n/m, 'Environment=SUPERBLOOM_PORT=0\n')
    .replace('/usr/bin/node /opt/superbloom/', `${process.execPath} ${root}/`)
  await systemd.addUnit('superbloom', here)
})
afterAll(() => systemd?.[Symbol.asyncDispose]())

test('it has started when the hub listens, and its folder is its own', async () => {
  await systemd.systemctl('start', 'superbloom')
  expect(await show('ActiveState')).toBe('active')
  expect(await answer()).toBe(200)
  expect(hubFile().pid).toBe(Number(await show('MainPID')))
})

test('killed, it is started again', async () => {
  const { pid } = hubFile()
  process.kill(pid, 'SIGKILL')
  await until('another hub answers', async () => hubFile().pid !== pid && (await answer()) === 200)
  await until('systemd knows', async () => (await show('ActiveState')) === 'active')
  expect(await show('NRestarts')).toBe('1')
})

test('stopped, it ends in order, with all that it started', async () => {
  await systemd.systemctl('stop', 'superbloom')
  expect(await show('ActiveState')).toBe('inactive')
  expect(await show('Result')).toBe('success')
  expect(await show('ExecMainStatus')).toBe('0')
  expect(() => hubFile()).toThrow('ENOENT')
})

test('a wrong setting: the start fails, and is not tried again', async () => {
  writeFileSync(place('superbloom.yaml'), 'concurrency: many\n')
  await expect(systemd.systemctl('start', 'superbloom')).rejects.toThrow('failed')
  expect(await show('ActiveState')).toBe('failed')
  expect(await show('ExecMainStatus')).toBe('78')
  expect(await show('NRestarts')).toBe('0')
})
