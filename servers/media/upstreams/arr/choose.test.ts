import { expect, test } from 'vitest'
import { ToolFailure } from '../../../kit/failure.ts'
import { ok, startFaultyUpstream } from '../../../kit/testing/faulty-upstream.ts'
import { createUpstream } from '../../../kit/upstream/upstream.ts'
import { choose } from './choose.ts'

const variables = { QUALITY_PROFILE: 'RADARR_QUALITY_PROFILE', ROOT_FOLDER: 'RADARR_ROOT_FOLDER' }
const settings = { QUALITY_PROFILE: undefined, ROOT_FOLDER: undefined }

test('names of profiles are cleaned and quoted where they are told, and not all of many', async () => {
  const profiles = Array.from({ length: 50 }, (_, id) => ({ id, name: `HD\u001b[31m "${id}"` }))
  await using radarr = await startFaultyUpstream({
    'GET /api/v3/qualityprofile': ok(profiles),
    'GET /api/v3/rootfolder': ok([{ id: 1, path: '/films' }]),
  })
  const upstream = createUpstream({ name: 'radarr', url: radarr.url })
  const arr = { upstream, settings, variables }
  const { notes } = await choose(arr, {})
  const error = await choose(arr, { qualityProfile: 'SD' }).catch((thrown: unknown) => thrown)
  if (!(error instanceof ToolFailure)) throw error
  for (const text of [notes.join(), error.failure.why]) {
    expect(text).toContain(`"HD [31m '1'"`)
    expect(text).toMatch(/ and (29|30) more/)
    expect(text).not.toContain('\u001b')
  }
})
