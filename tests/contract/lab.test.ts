import { expect, it } from 'vitest'
import { startRadarr } from '../lab/radarr.ts'
import { startSeerr } from '../lab/seerr.ts'
import { openContract } from '../support/openapi.ts'

const radarrs = openContract('radarr-v3.json')

async function problemsOf(
  use: (url: string, headers: Record<string, string>) => Promise<void>,
): Promise<string> {
  const radarr = await startRadarr({ contract: radarrs })
  await use(radarr.url, { 'x-api-key': radarr.apiKey })
  return radarr[Symbol.asyncDispose]().then(
    () => '',
    (error: Error) => error.message,
  )
}

it('the lab fails a test whose requests do not fit the description', async () => {
  const problems = await problemsOf(async (url, headers) => {
    const body = JSON.stringify({ title: 5, colour: 'blue' })
    await fetch(`${url}/api/v3/movie`, { method: 'POST', headers, body })
    await fetch(`${url}/api/v3/movie?colour=blue`, { headers })
    await fetch(`${url}/api/v3/colour`, { headers })
  })
  expect(problems).toMatch(/POST \/api\/v3\/movie, request: \/title must be string/)
  expect(problems).toMatch(/request: .*must NOT have additional properties/)
  expect(problems).toMatch(/takes no parameter colour/)
  expect(problems).toMatch(/\/api\/v3\/colour: the lab has no such route/)
})

it('the lab fails a test whose answers do not fit the description', async () => {
  const radarr = await startRadarr({ contract: radarrs })
  radarr.state.health.push({ id: 1, source: 'x', type: 'terrible' as 'error', message: 'x', wikiUrl: 'x' })
  await fetch(`${radarr.url}/api/v3/health`, { headers: { 'x-api-key': radarr.apiKey } })
  await expect(radarr[Symbol.asyncDispose]()).rejects.toThrow(
    /GET \/api\/v3\/health, answer: \/0\/type must be equal/,
  )
})

it('a request without the key changes nothing, and what fits is no problem', async () => {
  await using seerr = await startSeerr({ contract: openContract('seerr.yml', '/api/v1') })
  const refused = await fetch(`${seerr.url}/api/v1/request`)
  expect(refused.status).toBe(403)
  expect(seerr.requests).toEqual([])
})
