import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HEADINGS } from '../../hub/runtime/summary.ts'
import type { Turn } from '../support/mimics/mimic.ts'
import { toolNamesOf } from '../support/mimics/tool-names.ts'
import {
  OPENAI_CHAT,
  openPlayed,
  PLAYED,
  type PlayedModel,
  type PlayedProvider,
} from '../support/played-providers.ts'
import { openProviderWorld, PICTURES, type ProviderWorld } from '../support/provider-world.ts'

const ALL = [...PLAYED, OPENAI_CHAT]
const CASES = ALL.flatMap((played, at) =>
  [true, false].map(vision => ({ played, vision, agent: `agent-${at}-${vision ? 'sees' : 'blind'}` })),
)
const LIMIT = 120_000

let world: ProviderWorld
beforeAll(async () => {
  world = await openProviderWorld([...CASES.map(({ agent }) => agent), 'traveller'])
}, LIMIT)
afterAll(() => world[Symbol.asyncDispose]())

const SUMMARY = HEADINGS.map(heading => `## ${heading}\n- ${heading} as it was`).join('\n')
/** Answers the hub's request for a summary. */
const summarizes = (body: string): Turn | undefined =>
  body.includes('You write the summary') ? { reasoning: 'Shorter.', text: SUMMARY } : undefined

const call = (name: string, args: object = {}) => ({ name, arguments: args })
const LOOKS = [call('list_schedules'), call('list_notification_channels')]

async function openCase(played: PlayedProvider, vision: boolean) {
  const asked = await openPlayed(played, { vision, answer: summarizes })
  world.model.current = asked.model
  return asked
}

const texts = (bodies: readonly unknown[]) => bodies.map(body => JSON.stringify(body))

describe.each(CASES)('$played.name, seeing: $vision', ({ played, vision, agent }) => {
  test('a whole conversation is accepted as it is', async () => {
    const { chat, model } = world
    await using asked = await openCase(played, vision)
    const { mimic } = asked
    await chat.subscribe(agent)
    const ask = async (text: string, ...turns: Turn[]) => {
      asked.script(...turns)
      return (await chat.ask(agent, text)).text
    }
    const last = () => texts(mimic.requests).at(-1) ?? ''

    expect(await ask('Hi', { reasoning: 'A greeting.', text: 'Hello.' })).toBe('Hello.')
    expect(
      await ask(
        'How is the machine?',
        { reasoning: 'I look.', text: 'One moment.', calls: [call('list_notification_channels')] },
        { reasoning: 'So.', text: 'It is well.' },
      ),
    ).toBe('It is well.')
    expect(await ask('And all of it?', { reasoning: 'Both.', calls: LOOKS }, { text: 'All of it is.' })).toBe(
      'All of it is.',
    )
    const wake = call('schedule_wake', { delay: '9h', reason: 'look again' })
    expect(await ask('Look again later.', { reasoning: 'A wake.', text: 'I will.', calls: [wake] })).toBe(
      'I will.',
    )
    expect(await ask('Thank you', { reasoning: 'Polite.', text: 'Gladly.' })).toBe('Gladly.')

    model.meanwhile = () => chat.say(agent, 'And the schedules?')
    expect(
      await ask(
        'The load?',
        { reasoning: 'Load.', calls: LOOKS },
        { reasoning: 'Both.', text: 'Both fine.' },
      ),
    ).toBe('Both fine.')
    expect(last()).toContain('MID-CYCLE UPDATE')

    expect(await ask('Well?', { reasoning: 'Nothing to say.' }, { text: 'Here I am.' })).toBe('Here I am.')
    expect(last()).toContain('EMPTY REPLY')

    asked.script({ reasoning: 'A picture.', text: 'A square.' })
    expect(await world.show(agent, 'What is this?')).toBe('A square.')
    expect(last().includes(PICTURES.person)).toBe(vision)
    expect(last().includes('this model cannot see it')).toBe(!vision)
    const drawing = [call('list_schedules'), call('eye__draw'), call('list_schedules')]
    expect(await ask('Draw it', { reasoning: 'I draw.', calls: drawing }, { text: 'It is low.' })).toBe(
      'It is low.',
    )
    expect(last().includes(PICTURES.tool)).toBe(vision)

    const before = mimic.requests.length
    const long = 'The log of the night says that all is well. '.repeat(1_500)
    for (const round of [1, 2, 3, 4])
      expect(await ask(`${round}: ${long}`, { reasoning: 'Long.', text: 'Read.' })).toBe('Read.')
    expect(
      await ask('What was it?', { reasoning: 'I look.', calls: LOOKS }, { reasoning: 'So.', text: 'A log.' }),
    ).toBe('A log.')
    expect(texts(mimic.requests.slice(before)).some(body => summarizes(body))).toBe(true)
    expect(last()).toContain('[SUMMARY]')

    expect(mimic.refusals.map(({ rule }) => rule)).toEqual(played.refusesFirst)
    expect(asked.model.health?.quirks()).toHaveLength(played.refusesFirst.length)
    expect(asked.left).toBe(0)
    const offered = mimic.requests
      .map(body => toolNamesOf(body).length)
      .filter((_, at) => !summarizes(texts(mimic.requests)[at] ?? ''))
    expect(new Set(offered)).toEqual(new Set([world.model.offered]))
    expect(world.model.offered).toBeGreaterThan(55)
  })
})

const SEED = 1_311

test('a conversation is accepted by every provider after every other, in the middle of a cycle too', async () => {
  const { chat, model } = world
  await using stack = new AsyncDisposableStack()
  const all: (PlayedModel & Pick<PlayedProvider, 'name' | 'refusesFirst'>)[] = []
  for (const [at, played] of ALL.entries()) {
    const asked = stack.use(await openPlayed(played, { vision: at % 2 === 0, answer: summarizes }))
    all.push({ ...played, ...asked })
  }
  const pairs = all.flatMap((one, at) => all.slice(at + 1).map(other => ({ one, other })))
  const refused = () =>
    all.flatMap(({ name, mimic, refusesFirst }) =>
      mimic.refusals.slice(refusesFirst.length).map(({ rule }) => ({ refusedBy: name, rule })),
    )
  await chat.subscribe('traveller')
  const everyPair = fc.shuffledSubarray(pairs, { minLength: pairs.length })
  const [shuffled = []] = fc.sample(everyPair, { seed: SEED, numRuns: 1 })
  for (const [at, { one, other }] of shuffled.entries()) {
    const drawing = at % 5 === 0 ? [call('eye__draw')] : []
    const steps: [PlayedModel, Turn][] = [
      [one, { reasoning: 'I look.', text: at % 2 === 0 ? 'One moment.' : '', calls: [...LOOKS, ...drawing] }],
      [other, { reasoning: 'Once more.', calls: at % 3 === 0 ? LOOKS : LOOKS.slice(1) }],
      [one, { reasoning: 'So.', text: `Answer ${at}.` }],
    ]
    for (const [asked, turn] of steps) {
      asked.script(turn)
      model.next.push(asked.model)
    }
    expect((await chat.ask('traveller', `Question ${at}`)).text, `${one.name}, ${other.name}`).toBe(
      `Answer ${at}.`,
    )
    expect(refused(), `${one.name} and ${other.name}`).toEqual([])
  }
  expect(all.flatMap(asked => asked.model.health?.quirks() ?? [])).toHaveLength(1)
})
