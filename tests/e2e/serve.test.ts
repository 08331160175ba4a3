import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startCli } from '../support/cli.ts'
import { openClient } from '../support/clients.ts'
import { startTestHub } from '../support/test-hub.ts'

test('serve metrics --http 0 runs it alone, with a token that opens only this server', async () => {
  await using hub = await startTestHub()
  const variables = { ...hub.variables, SUPERBLOOM_TOKEN_FILE: '/nowhere' }
  await using running = startCli(['serve', 'metrics', '--http', '0'], { variables })
  const [, url = '', file = ''] = await running.says(/at (http:\S+)\/mcp; the token is in (\S+)/)
  expect(file).toBe(join(hub.dataFolder, 'tokens', 'serve-metrics'))
  const token = readFileSync(file, 'utf8').trim()
  await using client = await openClient('sdk 2, 2026-07-28', { url, token })
  expect((await client.listTools()).map(({ name }) => name)).toContain('get_system_metrics')
  await expect(openClient('sdk 1', { url, token: hub.token })).rejects.toThrow(/needs the token/)
  await expect(openClient('sdk 1', { url: hub.url, token })).rejects.toThrow(/does not take this token/)
  running.kill('SIGTERM')
  expect((await running.ended()).code).toBe(0)
})
