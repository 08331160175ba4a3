import { describe, expect, it } from 'vitest'
import { decideSizes } from './sizes.ts'

const usd = (input: number) => ({ currency: 'USD', input, cachedInput: input, output: input })
const known = { context: 200_000, maxOutput: 64_000, vision: true, price: usd(1) }

describe('the sizes of a model', () => {
  it('come from the configuration, else the provider, else the table', () => {
    expect(
      decideSizes({ vision: false }, { context: 131_072, vision: true }, { ...known, price: usd(3) }),
    ).toEqual({
      context: 131_072,
      maxOutput: 4_096,
      price: usd(3),
      vision: false,
      from: { context: 'provider', maxOutput: 'default', price: 'table', vision: 'config' },
    })
  })

  it('are moderate where nobody says anything, and never more than the model has', () => {
    expect(decideSizes({})).toMatchObject({ context: 32_768, maxOutput: 4_096, vision: false })
    expect(decideSizes({}, { longest: 8_192 })).toMatchObject({ context: 8_192, maxOutput: 2_048 })
    expect(decideSizes({}, { context: 65_536, maxOutput: 2_000 })).toMatchObject({ maxOutput: 2_000 })
    expect(decideSizes({ maxOutput: 500 }, { maxOutput: 2_000 })).toMatchObject({ maxOutput: 500 })
  })
})
