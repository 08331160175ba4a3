import { describe, expect, test } from 'vitest'
import { createConsole } from '../../servers/games/upstreams/console.ts'
import { createQuery } from '../../servers/games/upstreams/query.ts'
import { systemClock } from '../../servers/kit/clock.ts'
import { until } from '../support/until.ts'
import { RCON_PASSWORD, startIoquake3 } from './setup/ioquake3.ts'
import { startOpenttd } from './setup/openttd.ts'
import { ECON_PASSWORD, startTeeworlds } from './setup/teeworlds.ts'

const clock = systemClock
const host = '127.0.0.1'

describe('Teeworlds 0.7 and its external console', () => {
  test('commands are answered, and text for all is said', async () => {
    await using teeworlds = await startTeeworlds()
    const { port } = teeworlds
    const econ = createConsole({ kind: 'teeworlds', host, port, password: ECON_PASSWORD }, { clock })
    expect(await econ.send('status')).toEqual([])
    expect(await econ.send('sv_name')).toEqual(['Value: Lab'])
    expect(await econ.send('no_such_command')).toEqual(['No such command: no_such_command.'])
    await econ.say('back in five; "promise"')
    await teeworlds.program.says(/\[chat\]: \*\*\* back in five, 'promise'/)
  })

  test('a wrong password is told', async () => {
    await using teeworlds = await startTeeworlds()
    const { port } = teeworlds
    const econ = createConsole({ kind: 'teeworlds', host, port, password: 'wrong' }, { clock })
    await expect(econ.send('status')).rejects.toMatchObject({ kind: 'unauthorized' })
  })
})

test('OpenTTD is asked by gamedig', async () => {
  await using openttd = await startOpenttd()
  const query = createQuery({ type: 'openttd', host, port: openttd.port }, { clock })
  const status = await until('OpenTTD answers', () => query.ask().catch(() => undefined))
  expect(status).toMatchObject({
    name: 'Lab trains',
    players: 0,
    bots: 0,
    version: expect.stringMatching(/^13/),
  })
  expect(status.maxPlayers).toBeGreaterThan(0)
  expect(status.ping).toBeLessThan(2000)
})

test('a Quake 3 server reads out what is said, and one that hangs is told within the time limit', async () => {
  await using quake = await startIoquake3()
  const query = createQuery({ type: 'q3a', host, port: quake.port }, { clock })
  expect(await query.ask()).toMatchObject({ name: 'Lab Q3', map: 'aggressor', players: 0, maxPlayers: 8 })
  const console = createConsole(
    { kind: 'quake3', host, port: quake.port, password: RCON_PASSWORD },
    { clock },
  )
  await console.say('back in five; "promise"')
  expect(await console.send('say all welcome')).toEqual([expect.stringMatching(/console: all welcome/)])
  quake.program.signal('SIGSTOP')
  const from = performance.now()
  await expect(query.ask()).rejects.toMatchObject({ kind: 'timeout' })
  expect(performance.now() - from).toBeLessThan(6000)
  quake.program.signal('SIGCONT')
})
