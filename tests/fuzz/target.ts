import assert from 'node:assert/strict'
import fc from 'fast-check'
import { HubError } from '../../hub/core/errors.ts'

/** What is fed with made inputs. `property` throws for an input that breaks a promise; a HubError is none. */
export interface Target {
  about: string
  property: fc.IAsyncProperty<[unknown]>
  /** Closes what the property has opened. */
  close?: () => Promise<void>
}

/** Returns a property that holds where the check passes or the input is refused with words. */
export function over(
  inputs: fc.Arbitrary<unknown>,
  check: (input: unknown) => void | Promise<void>,
): Target['property'] {
  return fc.asyncProperty(inputs, async input => {
    try {
      await check(input)
    } catch (error) {
      if (!(error instanceof HubError)) throw error
      assert.ok(error.message.length > 0)
    }
  })
}
