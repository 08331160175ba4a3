import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCli, startCli } from '../support/cli.ts'
import { makeTempFolder } from '../support/temp-store.ts'
import { makeEmptyDatabase, server } from '../support/test-database.ts'

if (server === undefined) throw new Error('These tests need a PostgreSQL: npm run test:postgres')
const at = server

/** Returns the variables of a hub that has its store in a database, with no server. */
function variablesOf(folder: string, url: string): Record<string, string> {
  return {
    SUPERBLOOM_DATA: join(folder, 'data'),
    SUPERBLOOM_AGENTS: join(folder, 'agents'),
    SUPERBLOOM_TOKEN: 'a-token-for-these-tests',
    SUPERBLOOM_PORT: '0',
    SUPERBLOOM_STORE: url,
    METRICS_DISABLED: '1',
  }
}

async function start(variables: Record<string, string>, cwd: string) {
  const running = startCli(['start'], { variables, cwd })
  const [, url = ''] = await running.says(/^Superbloom runs\. Open (http:\S+)\n/m)
  return { running, url }
}

test('doctor says which store is used, and what is wrong with it; no output has the password', async () => {
  await using database = await makeEmptyDatabase(at)
  using folder = makeTempFolder()
  const url = database.url.replace('postgres@', 'postgres:a-long-password@')
  const doctor = async (store: string) => {
    const { stdout, stderr } = await runCli(['doctor'], {
      variables: variablesOf(folder.path, store),
      cwd: folder.path,
    })
    expect(`${stdout}${stderr}`).not.toContain('a-long-password')
    return stdout
  }
  expect(await doctor(url)).toMatch(/warning store: There is no store in postgres:\/\/127/)
  const { running } = await start(variablesOf(folder.path, url), folder.path)
  const { stdout } = await runCli(['status'], { variables: variablesOf(folder.path, url), cwd: folder.path })
  expect(stdout).toMatch(/^Store: PostgreSQL, \d+\.\d MB$/m)
  running.kill('SIGTERM')
  expect((await running.ended()).stderr).not.toContain('a-long-password')
  expect(await doctor(url)).toMatch(/ok +store: PostgreSQL, postgres:\/\/127\.0\.0\.1:\d+\/test_/)
  expect(await doctor(url.replace(/:\d+\//, ':1/'))).toMatch(
    /store: PostgreSQL at .* cannot be used \(.*ECONNREFUSED/,
  )
  const config = await runCli(['config'], { variables: variablesOf(folder.path, url), cwd: folder.path })
  expect(config.stdout).not.toContain('a-long-password')
})
