import { expect, test } from 'vitest'
import { openWorld, type World } from '../../../tests/support/runtime-world.ts'
import { say, type Turn } from '../../../tests/support/scripted-model.ts'
import type { Model } from '../../core/model.ts'
import { HEADINGS } from '../summary.ts'

const SMALL = { context: 8_192, maxOutput: 512 }
const base = { steps: 30, minutes: 10 }
const PRICE = { currency: 'EUR', input: 1, cachedInput: 1, output: 1 }

function summaries(turn: Turn): Model & { asked: number } {
  const model = {
    name: 'summaries',
    ...SMALL,
    price: PRICE,
    asked: 0,
    complete: async (...args: Parameters<Turn>) => {
      model.asked++
      return turn(...args)
    },
  }
  return model
}

const good = say(HEADINGS.map(heading => `## ${heading}\n- ${heading} as it was`).join('\n'))

async function fill(world: World): Promise<void> {
  for (let round = 0; round < 6; round++) {
    world.model.script(say('yes'))
    await world.post(`question ${'word '.repeat(900)}`)
    await world.idle()
  }
}

const used = async (world: World) => {
  const [day] = await world.store.db.selectFrom('usage_days').selectAll().execute()
  const cycles = await world.store.db.selectFrom('cycles').selectAll().execute()
  const tokens = cycles.reduce((sum, cycle) => sum + cycle.input_tokens + cycle.output_tokens, 0)
  const micros = cycles.reduce((sum, cycle) => sum + cycle.cost_micros, 0)
  return { day: [day?.tokens, day?.cost_micros], cycles: [tokens, micros] }
}

test('promise 9: what a summary takes is counted like any other call', async () => {
  const model = summaries(async (request, options) => ({
    ...(await good(request, options)),
    usage: { input: 1_000, output: 100, cachedInput: 0 },
  }))
  await using world = await openWorld({ model: SMALL, summaries: model })
  await world.start()
  await fill(world)
  expect(model.asked).toBeGreaterThan(0)
  const tokens = 6 * 15 + model.asked * 1_100
  expect(await used(world)).toEqual({
    day: [tokens, model.asked * 1_100],
    cycles: [tokens, model.asked * 1_100],
  })
})

test('promise 9: a summary that a budget refuses is extracted without a model', async () => {
  const model = summaries(good)
  await using world = await openWorld({
    model: SMALL,
    summaries: model,
    agents: [{ limits: { ...base, moneyPerDay: 0.000_001 } }],
  })
  await world.start()
  await fill(world)
  expect(model.asked).toBe(0)
  const sessions = await world.store.db.selectFrom('sessions').select('summary_by').execute()
  expect(new Set(sessions.map(each => each.summary_by))).toEqual(new Set(['extract']))
  expect(world.seen.messages.all.filter(({ kind }) => kind === 'notice')).toEqual([])
})

test('an answered request is no open ask: good summaries are taken, and an extract lists none', async () => {
  for (const isExtract of [false, true]) {
    const model = summaries(isExtract ? say('no headings') : good)
    await using world = await openWorld({ model: SMALL, summaries: model })
    await world.start()
    for (let round = 0; round < 10; round++) {
      world.model.script(say(`disk-${round} is fine`))
      await world.post(`How is disk-${round} on nas-${round}.home? ${'word '.repeat(700)}`)
      await world.idle()
    }
    const sessions = await world.store.db.selectFrom('sessions').select(['summary_by', 'summary']).execute()
    expect(sessions.length).toBeGreaterThan(3)
    for (const session of sessions) {
      expect(session.summary_by).toBe(isExtract ? 'extract' : 'summaries')
      if (isExtract) expect(session.summary).toContain('## Open asks\n- none')
    }
    if (!isExtract) expect(model.asked).toBe(sessions.length)
  }
})
