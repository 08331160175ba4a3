import { expect, test } from 'vitest'
import { callStatuses, OWNER } from '../../../tests/support/approvals.ts'
import { askingTool, SURE } from '../../../tests/support/questions.ts'
import { liveTwice, openWorld, type World } from '../../../tests/support/runtime-world.ts'
import { call, say } from '../../../tests/support/scripted-model.ts'
import { until } from '../../../tests/support/until.ts'

const REQUEST = {
  systemPrompt: 'Be short.',
  messages: [{ role: 'user', content: { type: 'text', text: 'Name a color' } }],
}

/** A call in whose midst the model writes for the server, and a person says yes. */
async function openAsking() {
  const asked: string[] = []
  const { tool: sampling } = askingTool('sampling/createMessage', REQUEST)
  const { tool: elicitation, answers } = askingTool('elicitation/create', SURE)
  const run: typeof sampling.run = async (args, options) => {
    asked.push((await sampling.run(args, options)).text)
    return elicitation.run(args, options)
  }
  const world = await openWorld({ tools: [{ name: 'setup', run }] })
  world.model.complete = async (request, options) => {
    if (request.system === REQUEST.systemPrompt) return say('blue')(request, options)
    if (request.messages.at(-1)?.role === 'tool') return say('done')(request, options)
    return call([['setup']])(request, options)
  }
  return { world, asked, answers, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() }
}

/** What a person does in each life: says it once more, and decides what is open. */
async function live(world: World) {
  await world.post('set it up', 'homelab', 'once')
  const look = async () => {
    const open = world.store.db.selectFrom('approvals').select('id').where('status', '=', 'open')
    const question = await open.executeTakeFirst()
    if (question)
      await world.approvals.decide({ ...question, decision: 'approve', ...OWNER }).catch(isDecided)
    return !question && world.runtime.busy === 0
  }
  await until('all is answered', look)
}

const isDecided = (error: unknown) => expect(error).toMatchObject({ code: 'conflict' })

/** Counts the writes of a life without a death. */
async function countWrites() {
  await using asking = await openAsking()
  await asking.world.start()
  await live(asking.world)
  return asking.world.writes
}

const writes = await countWrites()
const deaths = Array.from({ length: writes }, (_, index) => index + 1).flatMap(write =>
  (['before', 'after'] as const).map(when => ({ write, when })),
)

test('every write is died at', () => {
  expect(deaths.length).toBeGreaterThan(16)
})

test.each(deaths)('promises 4, 9: a death $when write $write leaves no question open', async death => {
  await using asking = await openAsking()
  const { world, answers } = asking
  await liveTwice(world, death, live)
  const { db } = world.store
  const approvals = await db.selectFrom('approvals').select(['status', 'answered_at']).execute()
  expect(approvals.filter(({ status, answered_at }) => status === 'open' || answered_at === null)).toEqual([])
  const [status] = await callStatuses(world)
  if (status === 'ok') expect(answers).toEqual([{ action: 'accept', content: {} }])
  else expect([status, answers.length <= 1, asking.asked.length <= 1]).toEqual(['unknown', true, true])
  const told = await db.selectFrom('messages').select(['kind', 'text']).orderBy('seq').execute()
  expect(told.filter(({ kind }) => kind === 'agent').map(({ text }) => text)).toEqual(['done'])
  const cycle = await db.selectFrom('cycles').selectAll().executeTakeFirstOrThrow()
  const day = await db.selectFrom('usage_days').select('tokens').executeTakeFirstOrThrow()
  expect(cycle.status).toBe('done')
  expect(day.tokens).toBe(cycle.input_tokens + cycle.output_tokens)
  // Three replies of 15 tokens; of one that was cut at least what it was asked.
  expect(day.tokens).toBeGreaterThanOrEqual(status === 'ok' ? 45 : 30)
})
