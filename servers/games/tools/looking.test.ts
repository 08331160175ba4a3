import { describe, expect, test } from 'vitest'
import { createFakeBackend, fakeState, fakeStatus, silence } from '../testing/fake-game.ts'
import { createLab, finish, openLab, QUERY, STOPPED } from '../testing/lab.ts'

describe('list_game_servers', () => {
  test('shows states, players and what is wrong, and asks only those that run', async () => {
    const busy = createLab({ name: 'busy', title: 'Busy one' })
    busy.status = fakeStatus({ players: 2, bots: 1, names: ['Ann', 'Bob"}'] })
    const silent = createLab({ name: 'silent' })
    silent.status = undefined
    const off = createLab({ name: 'off' })
    off.state = STOPPED
    const broken = createLab({ name: 'broken' })
    broken.state = fakeState({ state: 'failed', exitCode: 1, stoppedAt: 1_000_000 - 300_000 })
    const lost = createLab({
      name: 'lost',
      query: undefined,
      backend: createFakeBackend({ state: () => Promise.reject(silence('sock')) }),
    })
    const games = [busy, silent, off, broken, lost].map(({ game }) => game)
    const { world } = await openLab(games, ['container x: a label is wrong'])
    const { text, data } = await world.call('list_game_servers')
    expect(text.split('\n').slice(0, -1)).toEqual([
      '5 game servers:',
      `busy ("Busy one"): running for 1 h 0 min; 2 of 20 players: "Ann", "Bob'}", 1 bot`,
      'silent ("atm-10"): running for 1 h 0 min; it does not answer queries',
      'off ("atm-10"): stopped 16 min ago',
      'broken ("atm-10"): failed 5 min ago (exit code 1)',
      'lost ("atm-10"): state unknown, The query failed. no answer within 3 s',
      'Problem: container x: a label is wrong',
    ])
    expect(data['servers']).toMatchObject([
      { server: 'busy', state: 'running', answers: true, players: 2, maxPlayers: 20 },
      { server: 'silent', answers: false },
      { server: 'off', state: 'stopped' },
      { server: 'broken', state: 'failed' },
      { server: 'lost', state: 'unknown' },
    ])
  })

  test('a game that hangs costs no more than its own limit', async () => {
    const hung = createLab({
      query: { where: QUERY, ask: () => new Promise(() => undefined) },
      backend: createFakeBackend({ state: () => new Promise(() => undefined) }),
    })
    const { world, clock } = await openLab([hung.game])
    const before = clock.monotonic()
    const { data } = await finish(clock, world.call('list_game_servers'))
    expect(data['servers']).toMatchObject([{ state: 'unknown', answers: false }])
    expect(clock.monotonic() - before).toBeLessThanOrEqual(6000)
  })

  test('says what to set where there is nothing, and pages a long list', async () => {
    const { world } = await openLab([])
    expect((await world.call('list_game_servers')).text).toContain(
      'no container has the label superbloom.game',
    )
    const many = Array.from({ length: 7 }, (_, index) => createLab({ name: `g${index}` }).game)
    const part = await (await openLab(many)).world.call('list_game_servers', { limit: 3, offset: 3 })
    expect(part.text).toContain('4 to 6 of 7 game servers; call again with offset 6 for more.')
  })
})

describe('get_game_server', () => {
  test('tells all of a running one', async () => {
    const lab = createLab({ commands: ['status', 'say *'] })
    lab.state = fakeState({ restarts: 2, health: 'healthy' })
    lab.status = fakeStatus({ players: 1, names: ['Ann'], map: 'aggressor', version: '1.36' })
    const { world } = await openLab([lab.game])
    const { text, data } = await world.call('get_game_server', { server: 'atm-10' })
    expect(text.split('\n').slice(0, -1)).toEqual([
      'atm-10: running for 1 h 0 min, healthy.',
      expect.stringMatching(/^It is the container atm-10 of .*; started 31 Dec 1969 23:16 UTC\.$/),
      'It was started anew by itself 2 times.',
      'CPU 41.3 % of a core, memory 3 GiB.',
      'It says: "Lab", map "aggressor", version "1.36". 1 of 20 players: "Ann". Ping 12 ms.',
      'Allowed console commands: "status", "say *".',
    ])
    expect(data).toMatchObject({
      use: { cpuPercent: 41.3 },
      query: { answers: true, players: 1 },
      console: 'quake3',
    })
  })

  test('one that is stopped is not asked, and one that does not answer says why', async () => {
    const lab = createLab()
    lab.status = undefined
    const { world } = await openLab([lab.game])
    expect((await world.call('get_game_server', { server: 'atm-10' })).text).toContain(
      `It does not answer queries: "${QUERY}: no answer within 3 s".`,
    )
    lab.state = STOPPED
    const { data } = await world.call('get_game_server', { server: 'atm-10' })
    expect(data).not.toHaveProperty('query')
    expect(data).not.toHaveProperty('use')
  })
})

describe('get_game_server_logs', () => {
  test('shows the newest lines, or those that contain a text', async () => {
    const { world } = await openLab([createLab().game])
    const server = 'atm-10'
    const last = await world.call('get_game_server_logs', { server, lines: 2 })
    expect(last.text).toContain('The last 2 lines of atm-10:\n```\nTwo\nthree two\n```')
    expect(last.untrusted).toBe(true)
    const found = await world.call('get_game_server_logs', { server, lines: 1, contains: 'TWO' })
    expect(found.data).toEqual({ server, count: 1, matching: 2, log: 'three two' })
    const none = await world.call('get_game_server_logs', { server, contains: 'zzz' })
    expect(none.text).toBe('The log of atm-10 has no lines that contain "zzz".')
  })
})
