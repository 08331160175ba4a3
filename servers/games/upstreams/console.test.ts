import { createRequire } from 'node:module'
import { Rcon } from 'rcon-client'
import { describe, expect, test } from 'vitest'
import { systemClock } from '../../kit/clock.ts'
import { failureOf as upstreamFailureOf } from '../../kit/testing/failure-of.ts'
import type { UpstreamFailure } from '../../kit/upstream/failure.ts'
import type { Console } from '../game.ts'
import { startFakeEcon } from '../testing/fake-econ.ts'
import { startFakeQuake3 } from '../testing/fake-quake3.ts'
import { type FakeRconOptions, startFakeRcon } from '../testing/fake-rcon.ts'
import { startFakeTcp } from '../testing/fake-tcp.ts'
import { createConsole } from './console.ts'

const clock = systemClock
const { default: RconSrcds } = createRequire(import.meta.url)('rcon-srcds') as typeof import('rcon-srcds')

function open(kind: Console['kind'], port: number, password = 'labrcon', limit?: number): Console {
  return createConsole(
    { kind, host: '127.0.0.1', port, password },
    { clock, ...(limit === undefined ? {} : { limit }) },
  )
}

async function failureOf(work: Promise<unknown>): Promise<UpstreamFailure> {
  const error = await upstreamFailureOf(work)
  expect(JSON.stringify([error.failure, error.message, String(error.cause)])).not.toContain('labrcon')
  return error
}

describe('Quake 3', () => {
  test('an answer of many packets is put together, without color codes', async () => {
    await using fake = await startFakeQuake3()
    fake.prints = () => ['^1map^7: aggressor\nnum sco', 're ping name\n', '--- ----- ----\n\n']
    expect(await open('quake3', fake.port).send('status')).toEqual([
      'map: aggressor',
      'num score ping name',
      '--- ----- ----',
    ])
    expect(fake.commands).toEqual(['status'])
  })

  test('a command that prints nothing answers with no lines', async () => {
    await using fake = await startFakeQuake3()
    fake.prints = () => ['']
    expect(await open('quake3', fake.port).send('set fraglimit 20')).toEqual([])
  })

  test('a wrong password is told, and shown nowhere', async () => {
    await using fake = await startFakeQuake3()
    fake.password = 'another'
    const failure = await failureOf(open('quake3', fake.port).send('status'))
    expect(failure).toMatchObject({
      kind: 'unauthorized',
      failure: { where: expect.stringMatching(/^quake3 console at 127/) },
    })
    expect(fake.commands).toEqual([])
  })

  test('a game without a password set says so', async () => {
    await using fake = await startFakeTcp(() => undefined)
    const failure = await failureOf(open('quake3', fake.port, 'lab rcon').send('status'))
    expect(failure.failure.why).toContain('spaces')
  })

  test('a password that the game prints is taken out of the answer', async () => {
    await using fake = await startFakeQuake3()
    fake.prints = () => ['"rconPassword" is:"labrcon" default:""\n']
    expect(await open('quake3', fake.port).send('rconpassword')).toEqual([
      '"rconPassword" is:"***" default:""',
    ])
  })

  test('a sign that would become a semicolon or a line end in one byte does not', async () => {
    await using fake = await startFakeQuake3()
    await open('quake3', fake.port).say('hi \u013b quit \u010a quit; "quit"')
    expect(fake.commands).toEqual(["say hi ? quit ? quit, 'quit'"])
  })

  test('one that is silent fails at its limit, and one that is down at once', async () => {
    const fake = await startFakeQuake3()
    fake.answers = false
    const silent = await failureOf(open('quake3', fake.port, 'labrcon', 100).send('status'))
    expect(silent).toMatchObject({ kind: 'timeout', failure: { why: 'no answer within 100 ms' } })
    await fake[Symbol.asyncDispose]()
    const down = await failureOf(open('quake3', fake.port).send('status'))
    expect(down).toMatchObject({
      kind: 'unreachable',
      failure: { why: expect.stringContaining('ECONNREFUSED') },
    })
  })

  test('a cancelled call ends with the reason of its signal', async () => {
    await using fake = await startFakeQuake3()
    fake.answers = false
    const cancel = new AbortController()
    const call = open('quake3', fake.port).send('status', cancel.signal)
    cancel.abort(new Error('the client went away'))
    await expect(call).rejects.toThrow('the client went away')
  })
})

describe.each(['source', 'minecraft', 'mute'] as const)('RCON over TCP, a server like %s', like => {
  const start = (options: FakeRconOptions = {}) => startFakeRcon({ ...options, like })
  const kind = like === 'minecraft' ? 'minecraft' : 'source'

  test('a command is answered', async () => {
    await using fake = await start({ answers: () => ['There are 2 of 20\nplayers'] })
    expect(await open(kind, fake.port).send('list')).toEqual(['There are 2 of 20', 'players'])
    expect(fake.commands).toEqual(['list'])
  })

  test('an answer of many packets is put together, also inside a character', async () => {
    const lines = Array.from({ length: 100 }, (_, number) => `${number} ${'ü'.repeat(40)}`)
    const bytes = Buffer.from(lines.join('\n'))
    const answers = () => [bytes.subarray(0, 4095), bytes.subarray(4095)]
    await using fake = await start({ answers })
    expect(await open(kind, fake.port).send('help')).toEqual(lines)
  })

  test('an empty answer is one', async () => {
    await using fake = await start({ answers: () => [''] })
    expect(await open(kind, fake.port).send('save-all')).toEqual([])
  })

  test('a wrong password is told', async () => {
    await using fake = await start({ password: 'another' })
    expect(await failureOf(open(kind, fake.port).send('list'))).toMatchObject({ kind: 'unauthorized' })
    expect(fake.commands).toEqual([])
  })
})

test('Minecraft’s color codes are left out', async () => {
  await using fake = await startFakeRcon({ like: 'minecraft', answers: () => ['§6Steve§r joined'] })
  expect(await open('minecraft', fake.port).send('list')).toEqual(['Steve joined'])
})

describe('Teeworlds', () => {
  test('the answer is what is logged between the command and its mark', async () => {
    await using fake = await startFakeEcon(() => ['Value: Läb', 'second line'])
    expect(await open('teeworlds', fake.port, 'labecon').send('sv_name')).toEqual([
      'Value: Läb',
      'second line',
    ])
    expect(fake.commands).toEqual(['sv_name'])
  })

  test('a command that logs nothing answers with no lines', async () => {
    await using fake = await startFakeEcon(() => [])
    expect(await open('teeworlds', fake.port, 'labecon').send('restart')).toEqual([])
  })

  test('a wrong password is told', async () => {
    await using fake = await startFakeEcon(() => [])
    expect(await failureOf(open('teeworlds', fake.port).send('status'))).toMatchObject({
      kind: 'unauthorized',
    })
    expect(fake.commands).toEqual([])
  })

  test('one that writes without end is given up', async () => {
    await using fake = await startFakeTcp(socket => socket.write('x'.repeat(400_000)))
    const failure = await failureOf(open('teeworlds', fake.port).send('status'))
    expect(failure.failure.why).toContain('writes without end')
  })
})

describe('clients of others accept the responder that these tests stand on', () => {
  // rcon-client takes the empty packet before a login's answer as success, whatever the password.
  test.each(['minecraft', 'mute'] as const)('rcon-client, like %s', async like => {
    await using fake = await startFakeRcon({ like })
    const options = { host: '127.0.0.1', port: fake.port }
    const client = await Rcon.connect({ ...options, password: 'labrcon' })
    expect(await client.send('list')).toBe('ran list')
    await client.end()
    await expect(Rcon.connect({ ...options, password: 'wrong' })).rejects.toThrow('Authentication failed')
  })

  // rcon-srcds takes each piece as one packet, so the server must answer a login with one.
  test.each(['minecraft', 'mute'] as const)('rcon-srcds, like %s', async like => {
    await using fake = await startFakeRcon({ like })
    const client = new RconSrcds({ host: '127.0.0.1', port: fake.port })
    await client.authenticate('labrcon')
    expect(await client.execute('list')).toBe('ran list')
    await client.disconnect()
    const stranger = new RconSrcds({ host: '127.0.0.1', port: fake.port })
    await expect(stranger.authenticate('wrong')).rejects.toThrow('Unable to authenticate')
  })
})

describe('a server that is something else', () => {
  test.each([
    ['garbage', '\u0001\u0002\u0003\u0004\u0005\u0006', /no RCON console/],
    ['a page', 'HTTP/1.1 400 Bad Request\r\n\r\n', /no RCON console/],
  ])('%s is told as such', async (_name, bytes, why) => {
    await using fake = await startFakeTcp(socket => socket.on('data', () => socket.write(bytes)))
    expect((await failureOf(open('source', fake.port).send('list'))).failure.why).toMatch(why)
  })

  test('one that closes is told as such', async () => {
    await using fake = await startFakeTcp(socket => socket.on('data', () => socket.end()))
    expect((await failureOf(open('source', fake.port).send('list'))).failure.why).toMatch(
      /closed the connection/,
    )
  })

  test('one that resets is told as such', async () => {
    await using fake = await startFakeTcp(socket => socket.on('data', () => socket.resetAndDestroy()))
    expect(await failureOf(open('source', fake.port).send('list'))).toMatchObject({ kind: 'unreachable' })
  })

  test('one that is silent fails at its limit', async () => {
    await using fake = await startFakeTcp(() => undefined)
    for (const kind of ['source', 'minecraft', 'teeworlds'] as const) {
      const failure = await failureOf(open(kind, fake.port, 'labrcon', 100).send('list'))
      expect(failure).toMatchObject({ kind: 'timeout' })
    }
  })

  test('one that is down, or whose name is unknown, is told as such', async () => {
    const fake = await startFakeTcp(() => undefined)
    await fake[Symbol.asyncDispose]()
    expect(await failureOf(open('source', fake.port).send('list'))).toMatchObject({ kind: 'unreachable' })
    const lost = createConsole(
      { kind: 'source', host: 'no-such-host.invalid', port: 1, password: 'labrcon' },
      { clock },
    )
    expect((await failureOf(lost.send('list'))).failure.why).toContain('could not be resolved')
  })
})

test('what is not one command is not sent', async () => {
  await using fake = await startFakeRcon()
  const failure = await failureOf(open('source', fake.port).send('list; stop'))
  expect(failure).toMatchObject({ kind: 'refused' })
  expect(fake.commands).toEqual([])
})
