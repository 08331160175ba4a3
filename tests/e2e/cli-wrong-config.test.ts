import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { runCli } from '../support/cli.ts'
import { startTestHub } from '../support/test-hub.ts'

test('a config file that was made wrong meanwhile keeps nobody from the hub that runs', async () => {
  await using hub = await startTestHub()
  writeFileSync(hub.configFile, 'no_such_key: 1\n')
  const run = (command: string) => runCli([command], { cwd: hub.folder, variables: hub.variables })
  const status = await run('status')
  expect([status.code, status.stderr]).toEqual([0, ''])
  expect((await run('doctor')).stdout).toContain('no_such_key')
  expect(await run('config')).toMatchObject({ code: 78, stderr: expect.stringContaining('no_such_key') })
})
