import { expect, test } from 'vitest'
import { eventPayloads } from '../../../schemas/events.ts'
import { createEventLog } from '../../kit/events.ts'
import { createFakeClock } from '../../kit/testing/fake-clock.ts'
import { runWatcher } from '../../kit/watch.ts'
import type { Game } from '../game.ts'
import { createFakeGame, fakeStatus, silence } from '../testing/fake-game.ts'
import { createPlayersWatcher } from './players.ts'

const SECOND = 1000
const LOOK = 15 * SECOND
const MINUTE = 60 * SECOND

/** Names of the players, their number if the game gives no names, or `silent` if it does not answer. */
type Answer = readonly string[] | number | 'silent'

function start(given: Record<string, Answer>) {
  const clock = createFakeClock()
  const answers = new Map(Object.entries(given))
  const asked: string[] = []
  const gameOf = (name: string): Game =>
    createFakeGame({
      name,
      query: {
        where: name,
        async ask() {
          asked.push(name)
          const answer = answers.get(name) ?? 'silent'
          if (answer === 'silent') throw silence(name)
          const names = typeof answer === 'number' ? undefined : answer
          return fakeStatus({ players: typeof answer === 'number' ? answer : answer.length, names })
        },
      },
    })
  const events = createEventLog('games', 'stream', clock)
  const logged: string[] = []
  const watcher = createPlayersWatcher({
    games: { list: async () => [...[...answers.keys()].map(gameOf), createFakeGame({ name: 'mute' })] },
    emit: events.emit,
    clock,
    log: (_level, event, fields) => void logged.push(`${event} (${String(fields?.['game'])})`),
    every: LOOK,
  })
  const stop = runWatcher(watcher, clock, (_level, event) => void logged.push(event))
  let seen = 0
  return {
    clock,
    logged,
    asked,
    stop,
    forget: (name: string) => answers.delete(name),
    /** Runs the next poll with these answers, and returns what it raised. */
    async look(changed: Record<string, Answer> = {}, after = LOOK) {
      for (const [name, answer] of Object.entries(changed)) answers.set(name, answer)
      await clock.advance(after)
      const fresh = events.read(seen).events
      seen += fresh.length
      return fresh.map(({ type, key, payload }) => {
        eventPayloads[type as 'player_joined'].parse(payload)
        return { type, key, payload }
      })
    },
  }
}

test('who is there at the start is no news', async () => {
  const { look } = start({ atm: ['Ann', 'Bob'], q3: 3 })
  expect(await look({}, 0)).toEqual([])
  expect(await look()).toEqual([])
})

test('who comes and who leaves is raised once, by name', async () => {
  const { look } = start({ atm: [] })
  await look({}, 0)
  expect(await look({ atm: ['Ann', 'Bob'] })).toEqual([
    {
      type: 'player_joined',
      key: 'player_joined:atm',
      payload: { server: 'atm', playerCount: 2, names: ['Ann', 'Bob'] },
    },
  ])
  expect(await look()).toEqual([])
  expect(await look({ atm: ['Ann'] })).toMatchObject([
    { type: 'player_left', key: 'player_left:atm', payload: { playerCount: 1, names: ['Bob'] } },
  ])
  expect(await look({ atm: ['Cid'] })).toMatchObject([
    { type: 'player_joined', payload: { playerCount: 1, names: ['Cid'] } },
    { type: 'player_left', payload: { playerCount: 1, names: ['Ann'] } },
  ])
})

test('a game that gives no names, or not all, is seen by its count', async () => {
  const { look } = start({ q3: 1 })
  await look({}, 0)
  expect(await look({ q3: 4 })).toEqual([
    { type: 'player_joined', key: 'player_joined:q3', payload: { server: 'q3', playerCount: 4 } },
  ])
  expect(await look({ q3: 3 })).toMatchObject([{ type: 'player_left', payload: { playerCount: 3 } }])
  expect(await look({ q3: ['Ann', 'Bob', 'Cid'] })).toEqual([])
})

test('a second player of the same name is one more', async () => {
  const { look } = start({ q3: ['Player'] })
  await look({}, 0)
  expect(await look({ q3: ['Player', 'Player'] })).toMatchObject([
    { type: 'player_joined', payload: { playerCount: 2, names: ['Player'] } },
  ])
})

test('everyone left is raised once, held while it is so, and raised again after someone was there', async () => {
  const { look } = start({ atm: ['Ann', 'Bob'] })
  await look({}, 0)
  expect(await look({ atm: [] })).toMatchObject([
    { type: 'player_left', payload: { playerCount: 0 } },
    { type: 'server_empty', key: 'server_empty:atm', payload: { server: 'atm', previousCount: 2 } },
  ])
  expect(await look()).toEqual([])
  await look({ atm: 1 })
  expect(await look({ atm: 0 })).toMatchObject([
    { type: 'player_left' },
    { type: 'server_empty', payload: { previousCount: 1 } },
  ])
})

test('a game that stops answering is not empty, until it answers so', async () => {
  const { look, logged } = start({ atm: ['Ann'] })
  await look({}, 0)
  expect(await look({ atm: 'silent' })).toEqual([])
  expect(await look()).toEqual([])
  expect(logged).toEqual(['game does not answer who plays, it is asked again (atm)'])
  expect(await look({ atm: [] }, MINUTE)).toMatchObject([
    { type: 'player_left', payload: { names: ['Ann'] } },
    { type: 'server_empty', payload: { previousCount: 1 } },
  ])
  expect(logged.at(-1)).toBe('game answers again (atm)')
})

test('a short silence with the same players raises nothing', async () => {
  const { look } = start({ atm: ['Ann'] })
  await look({}, 0)
  await look({ atm: 'silent' })
  expect(await look({ atm: ['Ann'] }, MINUTE)).toEqual([])
})

test('after a long silence the first answer is no news: who played was of another evening', async () => {
  const { look } = start({ atm: ['Ann', 'Bob'] })
  await look({}, 0)
  await look({ atm: 'silent' }, 15 * MINUTE)
  expect(await look({ atm: [] }, MINUTE)).toEqual([])
  expect(await look({ atm: ['Cid'] })).toMatchObject([{ type: 'player_joined' }])
})

test('one that does not answer is asked less and less, and keeps none of the others waiting', async () => {
  const { look, asked, stop, clock } = start({ down: 'silent', q3: 0 })
  await look({}, 10 * MINUTE)
  expect(asked.filter(name => name === 'down').length).toBeLessThanOrEqual(12)
  expect(asked.filter(name => name === 'q3')).toHaveLength(41)
  expect(await look({ q3: 1 })).toMatchObject([{ type: 'player_joined' }])
  stop()
  expect(clock.pending).toBe(0)
})

test('a game that is gone from the settings and comes back is new', async () => {
  const { look, forget } = start({ atm: ['Ann'] })
  await look({}, 0)
  forget('atm')
  await look()
  expect(await look({ atm: [] })).toEqual([])
})
