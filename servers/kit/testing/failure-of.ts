import { expect } from 'vitest'
import { UpstreamFailure } from '../upstream/failure.ts'

/** Returns the UpstreamFailure that a call rejects with; the test fails if there is none. */
export async function failureOf(promise: Promise<unknown>): Promise<UpstreamFailure> {
  const error = await promise.then(
    () => undefined,
    thrown => thrown,
  )
  expect(error).toBeInstanceOf(UpstreamFailure)
  return error as UpstreamFailure
}
