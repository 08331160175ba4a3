import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startNtfy } from '../../hub/demo/ntfy.ts'
import { SABNZBD_KEY, startSabnzbd } from '../../hub/demo/sabnzbd.ts'
import { openClient, type TestClient, textOf } from '../support/clients.ts'
import { invite, make, signIn } from '../support/roles.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'

const CONFIG = '# what we wrote by hand\nservers: { metrics: false } # no figures\n'
let hub: TestHub
let owner: TestClient
beforeAll(async () => {
  hub = await startTestHub({ config: CONFIG })
  owner = await openClient('sdk 2, 2026-07-28', hub)
})
afterAll(async () => {
  await owner[Symbol.asyncDispose]()
  await hub[Symbol.asyncDispose]()
})

const read = () => readFileSync(hub.configFile, 'utf8')

test('a program is tried, kept in the config beside what stands there, and its server runs with it', async () => {
  await using lab = await startSabnzbd({ 'Some.Show': 700 })
  const choice = (key: string) => ({ program: 'sabnzbd', settings: { URL: lab.url, API_KEY: key } })
  const wrong = await owner.call('hub_try_program', choice('not-the-key-of-sabnzbd'))
  expect(wrong.structuredContent).toMatchObject({ works: false, findings: [{ level: 'problem' }] })
  const tried = await owner.call('hub_try_program', choice(SABNZBD_KEY))
  expect(tried.structuredContent).toMatchObject({ works: true, findings: [{ level: 'ok' }] })
  expect(read()).toBe(CONFIG)

  const set = await owner.call('hub_set_program', choice(SABNZBD_KEY))
  expect(set.structuredContent).toMatchObject({ file: hub.configFile, server: 'downloads', state: 'ready' })
  expect(read()).toContain('# what we wrote by hand')
  expect(read()).toContain('# no figures')
  expect(readFileSync(`${hub.configFile}.bak`, 'utf8')).toBe(CONFIG)
  expect(textOf(await owner.call('get_download_status', {}))).toContain('Some.Show')

  const { structuredContent: listed } = await owner.call('hub_list_programs', {})
  expect(listed).toMatchObject({
    programs: expect.arrayContaining([
      expect.objectContaining({ program: 'sabnzbd', connected: [new URL(lab.url).host] }),
    ]),
  })
  const told = [listed, (await owner.call('hub_list_audit', {})).structuredContent]
  expect(JSON.stringify(told)).not.toContain(SABNZBD_KEY)
  expect(JSON.stringify(hub.logs.all)).not.toContain(SABNZBD_KEY)
})

test('where to be told is written beside the channel, and a test message arrives there', async () => {
  await using lab = await startNtfy()
  const settings = { URL: `${lab.url}/house` }
  const set = await owner.call('hub_set_program', { program: 'ntfy', settings })
  expect(set.structuredContent).toMatchObject({ server: 'notifications', state: 'ready' })
  await owner.call('hub_set_notify', { channel: 'ntfy', about: ['approvals'], private: true })
  const { structuredContent: config } = await owner.call('hub_read_config', {})
  expect(config).toMatchObject({
    values: expect.arrayContaining([
      expect.objectContaining({
        key: 'notify',
        value: '{"channel":"ntfy","about":["approvals"],"private":true}',
      }),
    ]),
    problems: [],
  })
  const sent = await owner.call('send_notification', { channel: 'ntfy', message: 'It works' })
  expect(textOf(sent)).toContain('Sent on ntfy')
  expect(lab.published).toMatchObject([{ topic: 'house', message: 'It works' }])
  expect(read()).toContain('# no figures')
})

test('a wrong choice changes nothing, and says what is wrong', async () => {
  const before = read()
  const wrong: [string, object, RegExp][] = [
    ['hub_set_program', { program: 'plex' }, /no program plex/],
    ['hub_set_program', { program: 'radarr', settings: { URL: 'nas:7878' } }, /needs its API_KEY/],
    ['hub_set_program', { program: 'docker', name: '../x' }, /name/],
    ['hub_set_program', { program: 'radarr', settings: { URL: 'nas', API_KEY: 'a${' } }, /begins a variable/],
    ['hub_set_notify', { channel: '' }, /channel/],
  ]
  for (const [tool, args, words] of wrong) {
    const answer = await owner.call(tool, { ...args })
    expect([answer.isError, textOf(answer)], JSON.stringify(args)).toEqual([
      true,
      expect.stringMatching(words),
    ])
  }
  expect(read()).toBe(before)
})

test('the look at this machine takes no address', async () => {
  const { structuredContent } = await owner.call('hub_find_programs', {})
  expect(structuredContent).toEqual({ found: expect.any(Array) })
  const refused = await owner.call('hub_find_programs', { host: '192.168.1.1' })
  expect(refused.isError).toBe(true)
})

test('nobody but the owner finds, tries or connects programs', async () => {
  const tokens = {
    member: await signIn(hub, await invite(hub, 'anna', 'member')),
    guest: await signIn(hub, await invite(hub, 'gus', 'guest')),
    client: await make(hub, 'hub_create_token', { name: 'desk', role: 'client' }),
  }
  const before = read()
  const choice = { program: 'docker', settings: {} }
  for (const [role, token] of Object.entries(tokens)) {
    await using client = await openClient('sdk 2, 2026-07-28', { url: hub.url, token })
    for (const [name, args] of Object.entries({
      hub_list_programs: {},
      hub_find_programs: {},
      hub_try_program: choice,
      hub_set_program: choice,
      hub_set_notify: { channel: 'page' },
    }))
      expect(textOf(await client.call(name, args)), `${role} ${name}`).toMatch(new RegExp(`role ${role}`))
  }
  expect(read()).toBe(before)
})
