import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openWorld, type World } from '../../tests/support/runtime-world.ts'
import { call, say, type Turn } from '../../tests/support/scripted-model.ts'

const CONVERSATIONS = ['homelab', 'phone', 'desk'] as const

interface Arrival {
  conversation: (typeof CONVERSATIONS)[number]
  /** Number of words of the message. */
  size: number
  /** Whether the message arrives while a call of the agent runs, and not before the agent begins. */
  during: boolean
}

const arrival = fc.record({
  conversation: fc.constantFrom(...CONVERSATIONS),
  size: fc.oneof({ weight: 4, arbitrary: fc.nat(200) }, fc.integer({ min: 2_000, max: 20_000 })),
  during: fc.boolean(),
})

/** Returns the whole text of a message, with marks at its beginning and its end. */
const toText = ({ size }: Arrival, id: number) => `begin-${id}- ${'word '.repeat(size)}-end-${id}`

/** Calls a tool or answers, by the dice; the answer names every mark that the step saw. */
function createTurns(dice: readonly boolean[]): Turn {
  let step = 0
  return (request, options) => {
    if (request.tools.length === 0) return say('no summary')(request, options)
    if (dice[step++ % dice.length]) return call([['look', { step }]])(request, options)
    return say(`answer ${step}`)(request, options)
  }
}

/** Returns the ids of the messages that a request shows whole. */
function seenWhole({ model }: World): Set<number> {
  const seen = new Set<number>()
  for (const { messages, tools } of model.requests.all) {
    if (tools.length === 0) continue
    for (const { text } of messages)
      for (const [, id = ''] of text.matchAll(/begin-(\d+)- [^\n(]*-end-\1\b/g)) seen.add(Number(id))
  }
  return seen
}

test('promise 12: each message is seen whole or its author is told, and has an answer in its own conversation', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(arrival, { minLength: 1, maxLength: 12 }),
      fc.array(fc.boolean(), { minLength: 3, maxLength: 9 }).filter(dice => dice.includes(false)),
      fc.constantFrom(8_192, 16_384, 65_536),
      async (arrivals, dice, context) => {
        const later = arrivals.map((each, id) => ({ each, id })).filter(({ each }) => each.during)
        const posted = new Map<number, { id: string; conversation: string }>()
        const post = async (each: Arrival, id: number) => {
          posted.set(id, await world.post(toText(each, id), each.conversation))
        }
        const look = async () => {
          const next = later.shift()
          if (next) await post(next.each, next.id)
          return { text: 'ok', isError: false }
        }
        await using world = await openWorld({
          agents: [{ conversations: [...CONVERSATIONS], limits: { steps: 400, tokens: 100_000_000 } }],
          model: { context },
          tools: [{ name: 'look', run: look }],
        })
        const turn = createTurns(dice)
        world.model.complete = async (request, options) => {
          world.model.requests.add(structuredClone(request))
          return turn(request, options)
        }
        await world.start()
        world.semaphore.resize(0)
        for (const [id, each] of arrivals.entries()) if (!each.during) await post(each, id)
        world.semaphore.resize(8)
        await world.idle()
        // Messages that no call has posted by then come at the end.
        for (let next = later.shift(); next; next = later.shift()) await post(next.each, next.id)
        await world.idle()

        const whole = seenWhole(world)
        const said = world.seen.messages.all.filter(({ kind }) => kind !== 'user' && kind !== 'tool')
        for (const [id, message] of posted) {
          const own = said.filter(
            ({ conversation, inReplyTo }) =>
              conversation === message.conversation && inReplyTo?.includes(message.id),
          )
          const isTold = own.some(({ kind, data }) => kind === 'notice' && data?.['cut'] === true)
          expect(whole.has(id) || isTold, `message ${id} was seen or its author told`).toBe(true)
          expect(
            own.some(({ kind }) => kind === 'agent'),
            `message ${id} has an answer`,
          ).toBe(true)
        }
        const left = await world.store.db.selectFrom('inbox').select(['cycle_id', 'unanswered']).execute()
        expect(left.filter(row => row.cycle_id === null || row.unanswered !== null)).toEqual([])
      },
    ),
    { numRuns: 40 },
  )
})
