import { expect, test } from 'vitest'
import {
  ARGUMENTS,
  callStatuses,
  inboxAnswers,
  OWNER,
  onlyApproval,
  stopTool,
  untilSaid,
} from '../../tests/support/approvals.ts'
import { liveTwice, openWorld, type World } from '../../tests/support/runtime-world.ts'
import { call, say } from '../../tests/support/scripted-model.ts'
import { HubError } from '../core/errors.ts'

/** Makes the model ask for the call, go on, and say so once it knows, however often it is asked. */
function makeSteady(world: World) {
  world.model.complete = async (request, options) => {
    const last = request.messages.at(-1)
    if (last?.role === 'tool') return say('I asked')(request, options)
    const knows = last?.role === 'user' && last.text.includes('Approval apr_')
    return knows ? say('I know')(request, options) : call([['stop', ARGUMENTS]])(request, options)
  }
}

/** Does what a person does in each run of the hub: repeats the message, and decides what is open. */
async function live(world: World) {
  await world.post('stop it', 'homelab', 'once')
  await world.idle()
  const { id, status } = await onlyApproval(world)
  // The person of the killed run goes on in the next one, and may be the first to decide.
  if (status === 'open')
    await world.approvals.decide({ id, decision: 'approve', ...OWNER }).catch(allowDecided)
  await untilSaid(world, 'I know')
}

function allowDecided(error: unknown) {
  if (!(error instanceof HubError && error.code === 'conflict')) throw error
}

/** Counts the writes of a run in which the hub does not die. */
async function countWrites() {
  await using world = await openWorld({ tools: [stopTool().tool], rules: { approve: ['stop'] } })
  makeSteady(world)
  await world.start()
  await live(world)
  return world.writes
}

const writes = await countWrites()
const deaths = Array.from({ length: writes }, (_, index) => index + 1).flatMap(write =>
  [false, true].flatMap(repeatable =>
    (['before', 'after'] as const).map(when => ({ write, when, repeatable })),
  ),
)

test('every write is died at', () => {
  expect(deaths.length).toBeGreaterThan(40)
})

test.each(deaths)(
  'promises 1, 3, 4: a death $when write $write; repeatable: $repeatable',
  async ({ repeatable, ...death }) => {
    const { ran, tool } = stopTool({ repeatable })
    await using world = await openWorld({ tools: [tool], rules: { approve: ['stop'] } })
    makeSteady(world)
    await liveTwice(world, death, live)
    const [status] = await callStatuses(world)
    const answers = await inboxAnswers(world)
    expect(answers).toHaveLength(1)
    expect(answers[0]).toMatchObject({ status: 'approved', by: 'owner', result: { status } })
    expect((await onlyApproval(world)).answered_at).not.toBeNull()
    if (status === 'unknown') expect([repeatable, ran.length <= 1]).toEqual([false, true])
    else expect([status, ran[0], repeatable || ran.length === 1]).toEqual(['ok', ARGUMENTS, true])
    expect(await waitingResults(world)).toBe(1)
    const seqs = (await world.store.db.selectFrom('messages').select('seq').orderBy('seq').execute()).map(
      row => row.seq,
    )
    expect(seqs).toEqual(seqs.map((_, index) => index + 1))
  },
)

/** Counts the results in the history that say that the call waits. */
async function waitingResults(world: World) {
  const rows = await world.store.db.selectFrom('history').select('content_json').execute()
  return rows.filter(row => row.content_json.includes('"text":"waiting: approval ')).length
}

test.each([
  { repeatable: true, ended: 'ok', times: 2 },
  { repeatable: false, ended: 'unknown', times: 1 },
])(
  'promise 3: an approved call that was cut in its midst; repeatable: $repeatable',
  async ({ repeatable, ended, times }) => {
    const begun = Promise.withResolvers<void>()
    let calls = 0
    const run = () => {
      if (++calls > 1) return { text: 'stopped', isError: false }
      begun.resolve()
      return new Promise<never>(() => undefined)
    }
    await using world = await openWorld({
      tools: [{ name: 'stop', run, repeatable }],
      rules: { approve: ['stop'] },
    })
    makeSteady(world)
    await world.start()
    await world.post('stop it', 'homelab', 'once')
    await world.idle()
    await world.approvals.decide({ id: (await onlyApproval(world)).id, decision: 'approve', ...OWNER })
    await begun.promise
    world.kill()
    await world.start()
    await untilSaid(world, 'I know')
    expect([calls, await callStatuses(world)]).toEqual([times, [ended]])
    expect(await inboxAnswers(world)).toMatchObject([{ result: { status: ended } }])
  },
)

test('a decision that is written while nothing may run yet runs once the hub lets go', async () => {
  const { ran, tool } = stopTool()
  await using world = await openWorld({ tools: [tool], rules: { approve: ['stop'] } })
  makeSteady(world)
  await world.start()
  await world.post('stop it', 'homelab', 'once')
  await world.idle()
  const { id } = await onlyApproval(world)
  await world.start({ write: 2, when: 'before' })
  await world.approvals.decide({ id, decision: 'approve', ...OWNER })
  await world.died
  expect([ran, await callStatuses(world)]).toEqual([[], ['planned']])
  await world.start()
  await untilSaid(world, 'I know')
  expect([ran, await callStatuses(world)]).toEqual([[ARGUMENTS], ['ok']])
})
