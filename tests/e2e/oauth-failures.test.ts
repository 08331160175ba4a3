import { mkdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startCli } from '../support/cli.ts'
import { untilReady } from '../support/downstream.ts'
import { KNOWN_CLIENT } from '../support/oauth-server.ts'
import { OAuthWorld } from '../support/oauth-world.ts'
import { startProgram } from '../support/program.ts'
import { until } from '../support/until.ts'

const HUB = join(import.meta.dirname, '..', '..', 'hub', 'cli', 'superbloom.ts')

describe('a login that is none', () => {
  let world: OAuthWorld
  beforeEach(async () => {
    world = await OAuthWorld.open()
    await world.untilAsked()
  })
  afterEach(() => world[Symbol.asyncDispose]())

  test('somebody comes back with a state of nobody’s: the login goes on', async () => {
    const { url, state } = await world.beginLogin()
    const wrong = await fetch(new URL('/oauth/callback?code=stolen&state=guessed', world.hub.url))
    expect(wrong.status).toBe(400)
    expect(await wrong.text()).toContain('belongs to no login')
    expect(await world.look(state)).toEqual({ status: 'waiting' })
    expect((await fetch(url)).ok).toBe(true)
    expect(await world.look(state)).toEqual({ status: 'done' })
    expect(world.people.asked).toEqual(['register', 'authorize read', 'code'])
  })

  test('the same answer counts once', async () => {
    const { url } = await world.beginLogin()
    const back = (await fetch(url, { redirect: 'manual' })).headers.get('location') ?? ''
    const answers = await Promise.all([fetch(back), fetch(back)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
    expect(world.people.asked.filter(one => one === 'code')).toHaveLength(1)
  })

  test('a second one takes the place of the first', async () => {
    const first = await world.beginLogin()
    await world.beginLogin()
    expect((await fetch(first.url)).status).toBe(400)
    expect(await world.look(first.state)).toMatchObject({ status: 'failed', error: /took its place/ })
  })

  test.each([
    ['another issuer', { iss: 'https://evil.example' }, /issuer/i],
    ['a no', { error: 'access_denied', error_description: 'Not today <b>' }, /access_denied: Not today/],
  ])('%s: it fails with the reason, and no code is exchanged', async (_what, answer, why) => {
    world.people.answer = answer
    const { url, state } = await world.beginLogin()
    const back = await fetch(url)
    expect(back.status).toBe(400)
    expect(await back.text()).not.toContain('<b>')
    expect(await world.look(state)).toEqual({ status: 'failed', error: expect.stringMatching(why) })
    expect(world.people.asked).not.toContain('code')
    expect(world.loginOf()).toBeUndefined()
    await using command = startCli(['servers', 'login', 'remote'], {
      variables: { SUPERBLOOM_DATA: world.hub.dataFolder },
    })
    const [again = ''] = await command.says(/http:\S+\/authorize\?\S+/)
    await fetch(again)
    expect(await command.ended()).toMatchObject({ code: 1, stderr: expect.stringMatching(why) })
  })

  test.each([
    ['POST', '/oauth/logins'],
    ['GET', '/oauth/logins/some-state'],
    ['DELETE', '/oauth/servers/remote'],
  ])('%s %s is for who has the token', async (method, path) => {
    expect((await fetch(new URL(path, world.hub.url), { method })).status).toBe(401)
  })

  test('a server that is not there, and one that gets a header of the config', async () => {
    await expect(world.beginLogin('nobody')).rejects.toThrow('There is no server nobody that runs')
    const { hub, remote } = world
    const headers = { authorization: 'Bearer mine' }
    hub.writeConfig(JSON.stringify({ servers: { metrics: false, remote: { url: remote.url, headers } } }))
    await until('the header is refused', async () => {
      const server = await world.status()
      return server?.state === 'down' && remote.authorizations.has('Bearer mine') && server
    })
    await until('no login is asked for', async () => !(await world.status())?.error?.includes('login'))
    await expect(world.beginLogin()).rejects.toThrow('take that away to log in')
  })
})

test('two logins at once each bring their own', async () => {
  await using world = await OAuthWorld.open()
  const other = await world.add('other', 'legacy', world.people.guard())
  await world.untilAsked('other')
  const logins = [await world.beginLogin('remote'), await world.beginLogin('other')]
  await Promise.all(logins.reverse().map(({ url }) => fetch(url)))
  await untilReady(world.hub, 'remote', 'other')
  expect([await world.call('remote__one'), await world.call('other__near')]).toEqual(['one', 'near'])
  const [one, two] = ['remote', 'other'].map(name => JSON.parse(world.loginOf(name) ?? ''))
  expect(one.tokens.access_token).not.toBe(two.tokens.access_token)
  expect([one.resource, two.resource]).toEqual([world.remote.url, other.url])
  expect(other.authorizations).not.toContain(`Bearer ${one.tokens.access_token}`)
})

test('a server that says it is elsewhere: nobody there sees a token', async () => {
  const seen: (string | undefined)[] = []
  const elsewhere = createServer((request, response) => {
    seen.push(request.headers.authorization)
    response.writeHead(404).end()
  })
  await new Promise<void>(resolve => elsewhere.listen(0, '127.0.0.1', resolve))
  const moved = `http://localhost:${(elsewhere.address() as AddressInfo).port}/mcp`
  let isMoved = false
  await using world = await OAuthWorld.open({
    guard: own => (request, response, url) => {
      if (!own(request, response, url)) return false
      if (isMoved) response.writeHead(307, { Location: moved }).end()
      return !isMoved
    },
  })
  world.defer(() => void elsewhere.close())
  await world.untilAsked()
  await world.logIn()
  isMoved = true
  expect(await world.call('remote__one')).toMatch(/307/)
  expect(seen).toEqual([])
})

test('a client that is refused says so, without its secret', async () => {
  const oauth = { grant: 'client_credentials', ...KNOWN_CLIENT, clientSecret: 'an-old-secret' }
  await using world = await OAuthWorld.open({ entry: { oauth } })
  const down = await world.hub.logs.find('it is down', ({ event }) => event === 'server_down')
  expect(down['error']).toMatch(/refuses the client \(oauth in its entry\)/)
  expect(JSON.stringify(world.hub.logs.all)).not.toContain('an-old-secret')
})

test('where nobody may register by themselves a login says what to do', async () => {
  await using world = await OAuthWorld.open({ registers: false })
  await world.untilAsked()
  await expect(world.beginLogin()).rejects.toThrow(
    /lets nobody register .* comes back to http:\/\/127\.0\.0\.1:\d+\/oauth\/callback, and write oauth: \{ clientId/,
  )
})

test('a file of a login that cannot be read harms nobody', async () => {
  await using world = await OAuthWorld.open()
  await world.hub.stop()
  mkdirSync(join(world.hub.dataFolder, 'oauth', 'remote.json'), { recursive: true })
  await world.hub.start()
  await world.add('other', 'modern')
  await untilReady(world.hub, 'other')
  await world.untilAsked()
  expect(world.hub.logs.all.map(({ event }) => event)).toContain('login_not_read')
})

test('new tokens that are on their way when the hub ends are not lost', async () => {
  await using world = await OAuthWorld.open()
  const { people, hub } = world
  const renew = await world.openStale()
  const call = world.call('remote__one').catch(() => 'cut')
  await world.untilRenewing()
  const before = world.loginOf()
  const door = new URL('/healthz', hub.url)
  const stopped = hub.stop()
  await until('its door is shut', () =>
    fetch(door).then(
      () => false,
      () => true,
    ),
  )
  renew()
  await stopped
  expect(world.loginOf()).not.toBe(before)
  await call
  await hub.start()
  await untilReady(hub, 'remote')
  expect(people.asked.filter(one => one.startsWith('authorize'))).toHaveLength(1)
})

test('the hub is killed between new tokens and the disk: it asks for a login, and one mends it', async () => {
  await using world = await OAuthWorld.open()
  const { people, hub } = world
  await world.untilAsked()
  await world.logIn()
  await hub.stop()
  people.revoke()
  await using killed = await startProgram(process.execPath, [HUB, 'start'], {
    env: { ...hub.variables, SUPERBLOOM_PORT: '0' },
  })
  people.onRefresh = () => killed.signal('SIGKILL')
  expect(await killed.ended).toMatchObject({ signal: 'SIGKILL' })
  people.onRefresh = () => undefined
  await hub.start()
  await world.untilAsked()
  expect(people.asked.filter(one => one === 'refresh')).toHaveLength(2)
  await world.logIn()
  expect(await world.call('remote__one')).toBe('one')
})
