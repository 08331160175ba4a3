import { expect, test } from 'vitest'
import { failureOf } from '../../../kit/testing/failure-of.ts'
import { startFaultyUpstream, status } from '../../../kit/testing/faulty-upstream.ts'
import { createUpstream } from '../../../kit/upstream/upstream.ts'
import { sendRequest } from './seerr.ts'

test('what somebody asked for in the same moment is no failure; another refusal is one', async () => {
  await using fake = await startFaultyUpstream()
  const upstream = createUpstream({ name: 'seerr', url: fake.url })
  const seerr = { name: 'seerr', upstream } as Parameters<typeof sendRequest>[0]
  const body = { mediaType: 'movie', mediaId: 1, is4k: false } as const
  fake.will(status(409, { message: 'Request for this media already exists.' }))
  expect(await sendRequest(seerr, body)).toBeUndefined()
  fake.will(status(403, { message: 'quota' }))
  expect((await failureOf(sendRequest(seerr, body))).failure.why).toContain('quota')
})
