import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { failureOf } from '../../kit/testing/failure-of.ts'
import { startFakeMinecraft } from '../testing/fake-minecraft.ts'
import { startFakeQuake3 } from '../testing/fake-quake3.ts'
import { startFakeTcp } from '../testing/fake-tcp.ts'
import { neverLoaded as never, openQuery as open } from '../testing/open-query.ts'
import { MASTERS } from './gamedig/masters.ts'
import type { Gamedig } from './gamedig/query.ts'

describe('gamedig', () => {
  test('one that refuses the connection is told', async () => {
    const fake = await startFakeTcp(() => undefined)
    await fake[Symbol.asyncDispose]()
    const failure = await failureOf(open({ type: 'protocol-terraria', port: fake.port }).ask())
    expect(failure).toMatchObject({
      kind: 'unreachable',
      failure: { why: expect.stringMatching(/refused/i) },
    })
  })

  test('a name that cannot be resolved is told', async () => {
    const failure = await failureOf(open({ type: 'quake2', host: 'no-such-host.invalid', port: 27960 }).ask())
    expect(failure.failure.why).toContain('could not be resolved')
  })

  test('a type that does not exist is told, with those that are close', async () => {
    const failure = await failureOf(open({ type: 'arena', port: 1 }).ask())
    expect(failure).toMatchObject({
      kind: 'refused',
      failure: { fix: expect.stringContaining('q3a (Quake 3') },
    })
  })

  test('a cancelled question ends with the reason of its signal', async () => {
    await using fake = await startFakeQuake3()
    fake.answers = false
    const cancel = new AbortController()
    const asked = open({ type: 'quake2', port: fake.port }).ask(cancel.signal)
    cancel.abort(new Error('the client went away'))
    await expect(asked).rejects.toThrow('the client went away')
  })
})

describe('what gamedig answers', () => {
  const answering = (answer: unknown) => async (): Promise<Gamedig> => ({
    games: { odd: { name: 'Odd', options: { protocol: 'odd' } } },
    protocols: { odd: true },
    queries: { query: async () => answer },
  })
  const ask = (answer: unknown) => open({ type: 'odd', port: 1 }, { gamedig: answering(answer) }).ask()

  test.each([
    [
      'a count and no names',
      { numplayers: 3, maxplayers: 10, players: [] },
      { players: 3, names: undefined },
    ],
    ['names and no count', { players: [{ name: 'a' }, { name: 'b' }] }, { players: 2, names: ['a', 'b'] }],
    ['figures as text', { numplayers: '2', maxplayers: '8' }, { players: 2, maxPlayers: 8 }],
    ['more bots than players', { numplayers: 1, bots: [{}, {}] }, { players: 0, bots: 2, names: [] }],
    [
      'figures that it does not have',
      { numplayers: Number.NaN, maxplayers: null },
      { players: 0, maxPlayers: undefined },
    ],
    ['a wrong maximum', { numplayers: 1, maxplayers: -1 }, { players: 1, maxPlayers: undefined }],
    ['nothing', {}, { players: 0, name: '', map: undefined, version: undefined }],
    ['a version of nothing', { version: 'undefined' }, { version: undefined }],
  ])('%s', async (_name, answer, expected) => {
    expect(await ask(answer)).toMatchObject(expected)
  })

  test.each([
    ['what is no answer at all', 'hello'],
    ['a count that is none', { numplayers: 'many' }],
    ['more players than there can be', { numplayers: 4_294_967_295 }],
    ['fewer than none', { numplayers: -1 }],
  ])('%s is told, and is no empty server', async (_name, answer) => {
    const failure = await failureOf(ask(answer))
    expect(failure).toMatchObject({ kind: 'unexpected', failure: { why: 'the answer made no sense' } })
  })
})

describe('types that ask the internet', () => {
  test.each(['minetest', 'factorio', 'asa', 'protocol-epic', 'discord', 'protocol-tribes1master'])(
    '%s is refused with who it would ask',
    async type => {
      const failure = await failureOf(open({ type, port: 1 }).ask())
      expect(failure).toMatchObject({
        kind: 'refused',
        failure: { why: expect.stringMatching(/^it asks .+ on the internet/) },
      })
    },
  )

  test('every protocol of gamedig that names a host of its own is among them', () => {
    const folder = join(dirname(createRequire(import.meta.url).resolve('gamedig')), '..', 'protocols')
    const asking = readdirSync(folder).filter(file =>
      /^\s*(url:|(const |this\.)\w*(ur[il]|api)\w* =).*'https?:\/\/[a-z]/im.test(
        readFileSync(join(folder, file), 'utf8'),
      ),
    )
    expect(asking.length).toBeGreaterThan(10)
    expect(asking.filter(file => !MASTERS.has(file.replace('.js', '')))).toEqual([])
  })
})

describe('Minecraft', () => {
  const status = {
    description: { text: '§aA ', extra: [{ text: 'lab ', extra: ['server'] }] },
    version: { name: 'Paper 1.21.4', protocol: 769 },
    players: { online: 2, max: 20, sample: [{ name: 'Steve' }, { name: '§eAlex' }] },
    favicon: `data:image/png;base64,${'A'.repeat(5000)}`,
  }
  test('is asked by its own ping, without gamedig', async () => {
    await using fake = await startFakeMinecraft({ status })
    for (const type of ['minecraft', 'protocol-minecraftvanilla']) {
      expect(await open({ type, port: fake.port }, { gamedig: never }).ask()).toEqual({
        name: 'A lab server',
        map: undefined,
        version: 'Paper 1.21.4',
        players: 2,
        maxPlayers: 20,
        bots: 0,
        names: ['Steve', 'Alex'],
        ping: expect.any(Number),
      })
    }
  })

  test('a server that hides who plays has a count and no names', async () => {
    const players = { online: 2, max: 20, sample: [{ name: 'Anonymous Player' }] }
    await using fake = await startFakeMinecraft({ status: { ...status, players }, pong: false })
    expect(await open({ type: 'minecraft', port: fake.port }, { gamedig: never }).ask()).toMatchObject({
      players: 2,
      names: undefined,
    })
  })

  test.each([
    ['no JSON', '<html>', /no JSON/],
    ['no status', { hello: 1 }, /no status/],
  ])('%s is told', async (_name, answer, why) => {
    await using fake = await startFakeMinecraft({ status: answer })
    const asked = open({ type: 'minecraft', port: fake.port }, { gamedig: never }).ask()
    expect((await failureOf(asked)).failure.why).toMatch(why)
  })

  test.each([
    ['garbage', (text: string) => text],
    ['a page', () => 'HTTP/1.1 400 Bad Request\r\n\r\n'],
  ])('%s is told', async (_name, toText) => {
    await using fake = await startFakeTcp(socket =>
      socket.on('data', () => socket.end(toText('\xff'.repeat(9)))),
    )
    const asked = open({ type: 'minecraft', port: fake.port }, { gamedig: never }).ask()
    expect((await failureOf(asked)).failure.why).toMatch(/not of a Minecraft server|closed the connection/)
  })

  test('one that is down fails, after the other editions were asked', async () => {
    const fake = await startFakeTcp(() => undefined)
    await fake[Symbol.asyncDispose]()
    const failure = await failureOf(open({ type: 'minecraft', port: fake.port }, { limit: 300 }).ask())
    expect(failure).toMatchObject({
      kind: 'unreachable',
      failure: { why: expect.stringContaining('ECONNREFUSED') },
    })
  })

  test('one that answered as the Java edition is never asked as another', async () => {
    const fake = await startFakeMinecraft({ status })
    const query = open({ type: 'minecraft', port: fake.port }, { gamedig: never })
    await query.ask()
    await fake[Symbol.asyncDispose]()
    expect(await failureOf(query.ask())).toMatchObject({ kind: 'unreachable' })
  })

  test('a Bedrock edition, which is silent on TCP, is asked by gamedig', async () => {
    const fake = await startFakeTcp(() => undefined)
    await fake[Symbol.asyncDispose]()
    const asked: unknown[] = []
    const gamedig = async (): Promise<Gamedig> => ({
      games: { minecraft: { name: 'Minecraft', options: { protocol: 'minecraft' } } },
      protocols: { minecraft: true },
      queries: { query: async options => asked.push(options['type']) && { numplayers: 3, maxplayers: 10 } },
    })
    expect(await open({ type: 'minecraft', port: fake.port }, { gamedig }).ask()).toMatchObject({
      players: 3,
    })
    expect(asked).toEqual(['minecraft'])
  })

  test('one that is silent fails at its limit', async () => {
    await using fake = await startFakeTcp(() => undefined)
    const failure = await failureOf(open({ type: 'minecraft', port: fake.port }, { limit: 100 }).ask())
    expect(failure).toMatchObject({ kind: 'timeout', failure: { why: 'no answer within 100 ms' } })
  })
})

test('a Minecraft server that announces more than a status can be is left at once', async () => {
  await using fake = await startFakeTcp(
    socket => void socket.write(Buffer.from([0xff, 0xff, 0xff, 0xff, 0x07])),
  )
  const failure = await failureOf(open({ type: 'protocol-minecraftvanilla', port: fake.port }).ask())
  expect(failure.failure.why).toBe('the answer is too long for a status')
})
