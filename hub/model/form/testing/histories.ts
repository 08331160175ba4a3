import fc from 'fast-check'
import type { AssistantMessage, ModelImage, ModelMessage, Thinking } from '../../../core/model.ts'
import { ALL_FORMS } from './forms.ts'
import { png, result, user } from './messages.ts'

/** Marks every thought, so that tests can tell that no text holds one. */
export const THOUGHT = 'THOUGHT'

const text = fc.oneof(
  fc.string({ minLength: 1, maxLength: 20 }).map(said => `said ${said}`),
  fc.constantFrom('two\nlines', 'half \ud83d of one', '日本語'),
)
const blank = fc.constantFrom('', ' ', '\n', '\u200b')

const images: fc.Arbitrary<ModelImage[]> = fc.array(
  fc.oneof(fc.constant(png(640, 480)), fc.constant({ mimeType: 'image/png', data: 'no picture' })),
  { maxLength: 2 },
)

const thinking: fc.Arbitrary<Thinking | undefined> = fc.option(
  fc.record({
    by: fc.constantFrom(...ALL_FORMS.map(form => form.family), 'compatible/gone'),
    text: fc.constantFrom('', `${THOUGHT} about it`),
  }),
  { nil: undefined },
)

/** Ids as providers make them. The runtime keeps them apart within a window; older versions did not. */
const id = fc.oneof(
  { weight: 9, arbitrary: fc.uuid().map(uuid => `call_${uuid}`) },
  { weight: 3, arbitrary: fc.stringMatching(/^[A-Za-z0-9]{9}$/) },
  { weight: 3, arbitrary: fc.nat(99).map(at => `functions.get_time:${at}`) },
  { weight: 1, arbitrary: fc.string({ maxLength: 90 }) },
)

const call = fc.record({
  id,
  name: fc.constantFrom('get_time', 'call_tool', 'home__set', 'gone.tool with spaces', 'x'.repeat(70), ''),
  arguments: fc.constantFrom('{}', '{"a":1}', '{"a":', '[]', '"x"', ''),
})

/** A step: calls, their results in any order with some lost, and an update that came meanwhile. */
const step = fc
  .record({
    text: fc.oneof(text, blank),
    calls: fc.array(call, { minLength: 1, maxLength: 4 }),
    thinking,
    results: fc.array(
      fc.record({ text: fc.oneof(text, blank), images, lost: fc.nat(9).map(one => one === 0) }),
      {
        minLength: 4,
        maxLength: 4,
      },
    ),
    isReversed: fc.boolean(),
    update: fc.option(text, { nil: undefined, freq: 4 }),
  })
  .map((made): ModelMessage[] => {
    const asked: AssistantMessage = {
      role: 'assistant',
      text: made.text,
      calls: made.calls,
      thinking: made.thinking,
    }
    const results = made.calls.flatMap((each, at) => {
      const given = made.results[at]
      if (!given || given.lost) return []
      return [
        {
          ...result(each.id, given.text, given.images),
          name: each.name === 'call_tool' ? 'found' : each.name,
        },
      ]
    })
    const update = made.update === undefined ? [] : [user(`[MID-CYCLE UPDATE] ${made.update}`)]
    return [asked, ...(made.isReversed ? results.reverse() : results), ...update]
  })

/** A cycle: a batch, steps, and a reply, which may be silent, or none where `schedule_wake` ended it. */
const cycle = fc
  .tuple(
    fc.record({ text: text.map(said => `[INBOX] ${said}`), images }),
    fc.array(step, { maxLength: 3 }),
    fc.array(
      fc
        .record({ text: fc.oneof(text, blank), thinking })
        .map((said): AssistantMessage => ({ role: 'assistant', calls: [], ...said })),
      { maxLength: 2 },
    ),
  )
  .map(([batch, steps, replies]): ModelMessage[] => [
    user(batch.text, batch.images),
    ...steps.flat(),
    ...replies,
  ])

const head = fc.constantFrom([], [user('A summary of what was.')])

/** Histories as the runtime makes them, cut as a compaction does: at a user's or an assistant's message. */
export const histories: fc.Arbitrary<ModelMessage[]> = fc
  .tuple(fc.array(cycle, { minLength: 1, maxLength: 4 }), fc.nat(), head)
  .map(([cycles, at, before]) => {
    const whole = cycles.flat()
    const cuts = [...whole.keys()].filter(index => whole[index]?.role !== 'tool')
    return [...before, ...whole.slice(cuts[at % cuts.length])]
  })
