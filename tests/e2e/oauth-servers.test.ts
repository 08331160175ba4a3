import { describe, expect, test } from 'vitest'
import { listRows } from '../support/audit-rows.ts'
import { runCli, startCli } from '../support/cli.ts'
import { openClient, textOf } from '../support/clients.ts'
import { untilReady } from '../support/downstream.ts'
import { KINDS } from '../support/http-servers.ts'
import { KNOWN_CLIENT } from '../support/oauth-server.ts'
import { OAuthWorld } from '../support/oauth-world.ts'
import { until } from '../support/until.ts'

const variables = ({ hub }: OAuthWorld) => ({ SUPERBLOOM_DATA: hub.dataFolder })
const startLogin = async (world: OAuthWorld) => {
  const login = startCli(['servers', 'login', 'remote'], { variables: variables(world) })
  const [url = ''] = await login.says(/http:\S+\/authorize\?\S+/)
  return { login, url }
}

test.each(KINDS)('a %s server asks for a login, and is there after it by itself', async kind => {
  await using world = await OAuthWorld.open({ kind })
  expect(await world.untilAsked()).toMatchObject({ state: 'down', tools: 0 })
  expect(world.people.asked).toEqual([])
  const { login, url } = await startLogin(world)
  const back = await fetch(url)
  expect(await back.text()).toContain('The hub may use remote now.')
  await untilReady(world.hub, 'remote')
  const { code, stdout, stderr } = await login.ended()
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/remote: ready, 2 tools/)
  expect(await world.call('remote__one')).toBe('one')
  expect(world.people.asked).toEqual(['register', 'authorize read', 'code'])
  expect(world.loginOf()).toContain('refresh_token')
  expect(await world.shownSecrets(stdout)).toEqual([])
  expect(world.people.secrets.size).toBeGreaterThan(3)
})

test('a browser that cannot reach the hub: the address that it shows is pasted', async () => {
  await using world = await OAuthWorld.open()
  await world.untilAsked()
  const { login, url } = await startLogin(world)
  const shown = (await fetch(url, { redirect: 'manual' })).headers.get('location') ?? ''
  login.stdin.write('https://example.org/?code=x&state=y\n')
  await login.says(/This is not the address/)
  login.stdin.write(`${shown.replace('127.0.0.1', 'another-machine')}\n`)
  const { code, stdout } = await login.ended()
  expect(code).toBe(0)
  expect(stdout).toMatch(/remote: ready, 2 tools/)
})

test('a login holds over a restart of the hub, and is forgotten when that is asked for', async () => {
  await using world = await OAuthWorld.open()
  await world.untilAsked()
  await world.logIn()
  await world.hub.stop()
  await world.hub.start()
  await untilReady(world.hub, 'remote')
  expect(await world.call('remote__two')).toBe('two')
  expect(world.people.asked).toEqual(['register', 'authorize read', 'code'])

  const logOut = () => runCli(['servers', 'logout', 'remote'], { variables: variables(world) })
  expect(await logOut()).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Forgot the login at remote.'),
  })
  expect(world.loginOf()).toBeUndefined()
  await world.untilAsked()
  expect((await logOut()).stdout).toContain('There was no login')
  await using client = await openClient('sdk 2, 2026-07-28', world.hub)
  const rows = await listRows(client, { kinds: ['login'] })
  expect(rows.map(({ actor, outcome }) => [actor, outcome])).toEqual([
    ['owner', 'begun'],
    ['hub', 'ok'],
    ['owner', 'ended'],
    ['owner', 'ended'],
  ])
})

describe('tokens that are over', () => {
  test('are renewed once, however many calls wait for it, and no call fails', async () => {
    await using world = await OAuthWorld.open()
    const { people, hub } = world
    const renew = await world.openStale()
    await using client = await openClient('sdk 2, 2026-07-28', hub)
    const calls = Array.from({ length: 12 }, () => client.call('remote__one').then(textOf))
    await world.untilRenewing()
    renew()
    expect(await Promise.all(calls)).toEqual(Array.from({ length: 12 }, () => 'one'))
    expect(people.asked.filter(one => one === 'refresh')).toHaveLength(1)
    expect(await world.shownSecrets()).toEqual([])
    await hub.stop()
    await hub.start()
    await untilReady(hub, 'remote')
    expect(people.asked.filter(one => one === 'refresh')).toHaveLength(1)
  })

  test('are renewed for a call that was given up meanwhile, which is not made again', async () => {
    const made: unknown[] = []
    let requests = 0
    await using world = await OAuthWorld.open({
      guard: own => (request, response, url) => {
        requests++
        if (request.headers['mcp-method'] === 'tools/call') made.push(request.headers['mcp-name'])
        return own(request, response, url)
      },
    })
    const { hub } = world
    const renew = await world.openStale()
    await using client = await openClient('sdk 2, 2026-07-28', hub)
    const impatience = new AbortController()
    const given = expect(client.call('remote__one', {}, { signal: impatience.signal })).rejects.toThrow()
    await world.untilRenewing()
    const before = requests
    impatience.abort()
    await given
    await until('the server is told that nobody waits', () => requests > before)
    renew()
    expect(await world.call('remote__two')).toBe('two')
    expect(made.filter(name => name !== 'two')).toEqual(['one'])
  })

  test('by the clock are renewed before a request', async () => {
    await using world = await OAuthWorld.open()
    const { people } = world
    people.lasts = 1
    await world.untilAsked()
    await world.logIn()
    await until('a call renews them', async () => {
      expect(await world.call('remote__one')).toBe('one')
      return people.asked.includes('refresh')
    })
  })

  test('and are not renewed: the server needs a login, others go on, and a login mends it', async () => {
    await using world = await OAuthWorld.open()
    const { people } = world
    await world.untilAsked()
    await world.logIn()
    await world.add('other', 'legacy')
    await untilReady(world.hub, 'other')
    people.revoke()
    // The authorization server has then already used up the refresh token.
    people.onRefresh = () => {
      throw new Error('out of order')
    }
    expect(await world.call('remote__one')).toMatch(/its login could not be renewed/)
    people.onRefresh = () => undefined
    expect(await world.call('remote__one')).toMatch(/needs a login .*run superbloom servers login remote/)
    expect(await world.call('other__near')).toBe('near')
    await world.untilAsked()
    expect(JSON.parse(world.loginOf() ?? '')).not.toHaveProperty('tokens')
    await world.logIn()
    expect(await world.call('remote__one')).toBe('one')
    // The hub has the same client id as before.
    expect(people.asked.filter(one => one === 'register')).toHaveLength(1)
    expect(await world.shownSecrets()).toEqual([])
  })
})

test('a call that wants more than the login allows says so, and works after a wider one', async () => {
  await using world = await OAuthWorld.open({ scopes: { two: 'write' } })
  await world.untilAsked()
  await world.logIn()
  expect(await world.call('remote__two')).toMatch(
    /wants a wider login \(write\): run superbloom servers login remote/,
  )
  expect(await world.status()).toMatchObject({ state: 'ready' })
  expect(await world.call('remote__one')).toBe('one')
  await world.logIn()
  expect(await world.call('remote__two')).toBe('two')
  expect(world.people.asked.filter(one => one.startsWith('authorize'))).toEqual([
    'authorize read',
    'authorize read write',
  ])
})

test('a client that logs in by itself needs nobody, and gets more when a call wants it', async () => {
  const oauth = { grant: 'client_credentials', ...KNOWN_CLIENT }
  await using world = await OAuthWorld.open({ entry: { oauth }, scopes: { two: 'write' } })
  await untilReady(world.hub, 'remote')
  expect([await world.call('remote__one'), await world.call('remote__two')]).toEqual(['one', 'two'])
  expect(world.people.asked).toEqual(['client_credentials', 'client_credentials'])
  expect(world.loginOf()).not.toContain(KNOWN_CLIENT.clientSecret)
  await expect(world.beginLogin()).rejects.toThrow('client_credentials')
})
