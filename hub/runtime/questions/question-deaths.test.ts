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

/** Opens a world with a call during which the model writes for the server, and a person says yes. */
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
    const last = request.messages.at(-1)
    if (last?.role === 'tool' && last.text.startsWith('waiting')) return say('I asked')(request, options)
    const isOver = last?.role === 'tool' || last?.text.includes('setup ended: ')
    if (isOver) return say('done')(request, options)
    return call([['setup']])(request, options)
  }
  return { world, asked, answers, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() }
}

/** Does what a person does in each run of the hub: repeats the message, and decides what is open. */
async function live(world: World) {
  await world.post('set it up', 'homelab', 'once')
  const look = async () => {
    const open = world.store.db.selectFrom('approvals').select('id').where('status', '=', 'open')
    const question = await open.executeTakeFirst()
    if (question)
      await world.approvals.decide({ ...question, decision: 'approve', ...OWNER }).catch(isDecided)
    const waits = world.store.db.selectFrom('tool_calls').select('id').where('status', '=', 'waiting')
    const inbox = world.store.db.selectFrom('inbox').select('seq').where('cycle_id', 'is', null)
    const rest = [await waits.executeTakeFirst(), await inbox.executeTakeFirst()]
    return !question && world.runtime.busy === 0 && rest.every(one => !one)
  }
  await until('all is answered', look)
}

const isDecided = (error: unknown) => expect(error).toMatchObject({ code: 'conflict' })

/** Counts the writes of a run in which the hub does not die. */
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
  const said = told.filter(({ kind }) => kind === 'agent').map(({ text }) => text)
  expect([said.at(-1), said.filter(text => text === 'done').length]).toEqual(['done', 1])
  const cycles = await db.selectFrom('cycles').selectAll().execute()
  const day = await db.selectFrom('usage_days').select('tokens').executeTakeFirstOrThrow()
  expect(cycles.filter(({ status: end }) => end !== 'done')).toEqual([])
  expect(day.tokens).toBe(cycles.reduce((sum, one) => sum + one.input_tokens + one.output_tokens, 0))
  // Three replies take 15 tokens each; one that was cut takes at least its request.
  expect(day.tokens).toBeGreaterThanOrEqual(status === 'ok' ? 45 : 30)
})
