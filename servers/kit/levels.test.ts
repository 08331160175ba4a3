import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decideLevel, type LevelRule, type LevelState, NORMAL } from './levels.ts'

const RULE: LevelRule = { threshold: 90, sustain: 120, clearBelow: 85 }

/** Returns the times at which a run of [time, value] raises. */
function raises(samples: readonly (readonly [number, number])[], rule = RULE): number[] {
  let state: LevelState = NORMAL
  return samples.flatMap(([now, value]) => {
    const decision = decideLevel(state, value, rule, now)
    state = decision.state
    return decision.raise ? [now] : []
  })
}

describe('a level', () => {
  test.each([
    [
      'low all the time',
      [
        [0, 50],
        [60, 89.9],
        [600, 89.9],
      ],
      [],
    ],
    [
      'high, but not for long enough',
      [
        [0, 95],
        [60, 95],
        [119, 95],
      ],
      [],
    ],
    [
      'high for exactly long enough',
      [
        [0, 95],
        [60, 95],
        [120, 95],
      ],
      [120],
    ],
    [
      'exactly at the threshold',
      [
        [0, 90],
        [120, 90],
      ],
      [120],
    ],
    [
      'a break starts the time anew',
      [
        [0, 95],
        [60, 95],
        [90, 89],
        [120, 95],
        [180, 95],
        [240, 95],
      ],
      [240],
    ],
    [
      'raised once, and held',
      [
        [0, 95],
        [120, 95],
        [135, 95],
        [999, 99],
        [9999, 91],
      ],
      [120],
    ],
    [
      'a dip to just below the threshold is no end',
      [
        [0, 95],
        [120, 95],
        [135, 86],
        [150, 95],
        [999, 95],
      ],
      [120],
    ],
    [
      'raised again after it cleared',
      [
        [0, 95],
        [120, 95],
        [135, 84.9],
        [150, 95],
        [270, 95],
      ],
      [120, 270],
    ],
    [
      'exactly at the lower bound it is not cleared',
      [
        [0, 95],
        [120, 95],
        [135, 85],
        [150, 95],
        [999, 95],
      ],
      [120],
    ],
  ] as const)('%s', (_what, samples, expected) => {
    expect(raises(samples)).toEqual(expected)
  })

  test('without a sustain time it is raised at once', () => {
    expect(
      raises(
        [
          [0, 85.1],
          [15, 86],
        ],
        { threshold: 85, sustain: 0, clearBelow: 80 },
      ),
    ).toEqual([0])
  })
})

describe('for any run of values', () => {
  const runs = fc.array(
    fc.tuple(fc.integer({ min: 1, max: 60 }), fc.double({ min: 0, max: 100, noNaN: true })),
    {
      maxLength: 200,
    },
  )
  const toSamples = (steps: [number, number][]) => {
    let now = 0
    return steps.map(([step, value]) => {
      now += step
      return [now, value] as const
    })
  }

  test('before each raise it was high for the whole sustain time', () => {
    fc.assert(
      fc.property(runs, steps => {
        const samples = toSamples(steps)
        for (const at of raises(samples)) {
          const high = samples.filter(([now]) => now <= at).toReversed()
          const low = high.findIndex(([, value]) => value < RULE.threshold)
          const since = high[low === -1 ? high.length - 1 : low - 1]?.[0] ?? at
          expect(at - since).toBeGreaterThanOrEqual(RULE.sustain)
        }
      }),
    )
  })

  test('between two raises it was cleared', () => {
    fc.assert(
      fc.property(runs, steps => {
        const samples = toSamples(steps)
        const raised = raises(samples)
        for (const [index, at] of raised.slice(1).entries()) {
          const between = samples.filter(([now]) => now > (raised[index] ?? 0) && now < at)
          expect(between.some(([, value]) => value < RULE.clearBelow)).toBe(true)
        }
      }),
    )
  })

  test('one that stays high for long enough is raised', () => {
    fc.assert(
      fc.property(runs, steps => {
        const samples = toSamples(steps)
        const end = samples.at(-1)?.[0] ?? 0
        const low = [end + 1, 0] as const
        const high = [1, 2, 3].map(step => [end + 1 + step * RULE.sustain, 100] as const)
        expect(raises([...samples, low, ...high]).at(-1)).toBe(end + 1 + 2 * RULE.sustain)
      }),
    )
  })
})
