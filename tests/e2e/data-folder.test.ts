import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { launcher, start } from '../support/cli.ts'

/* A data folder of another user, as a container's or a service's user may find it. */

const isRoot = process.getuid?.() === 0
/** Root may use every folder, so it gives up that capability here. */
const AS_ANYBODY = isRoot ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search', '--'] : []

let folder: string
let data: string
let agents: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'superbloom-foreign-'))
  data = join(folder, 'data')
  agents = join(folder, 'agents')
})
afterEach(() => {
  chmodSync(folder, 0o700)
  rmSync(folder, { recursive: true, force: true })
})

function giveAway(path: string): void {
  chmodSync(path, 0o500)
  if (isRoot) chownSync(path, 4242, 4242)
}

async function run(...args: string[]) {
  const [command = '', ...rest] = [...AS_ANYBODY, process.execPath, launcher, ...args]
  const variables = {
    SUPERBLOOM_DATA: data,
    SUPERBLOOM_AGENTS: agents,
    SUPERBLOOM_PORT: '0',
  }
  await using running = start(command, rest, { variables, cwd: folder, input: '' })
  return await running.ended()
}

test.each([
  ['start', 78],
  ['serve metrics --http 0', 78],
  ['status', 1],
  ['ask homelab hello', 1],
])(
  "%s on somebody else's data folder: says whose it is and what to run, without a stack",
  async (line, code) => {
    mkdirSync(data)
    giveAway(data)
    const ended = await run(...line.split(' '))
    const user = process.getuid?.()
    expect(ended.stderr).toMatch(
      new RegExp(
        `^superbloom: The data folder ${data} cannot be used: this program runs as user ${user}, `,
        'm',
      ),
    )
    expect(ended.stderr).toContain(`it belongs to user ${isRoot ? 4242 : user}`)
    expect(ended.stderr).toContain(`sudo chown -R ${user}:${process.getgid?.()} ${data}`)
    expect(ended.stderr).not.toMatch(/\n\s+at /)
    expect(ended).toMatchObject({ code, stdout: '' })
  },
)

test('a folder in which none can be made: says how to make it', async () => {
  giveAway(folder)
  const { code, stderr } = await run('start')
  expect(stderr).toContain(`sudo install -d -o ${process.getuid?.()} `)
  expect(stderr).not.toMatch(/\n\s+at /)
  expect(code).toBe(78)
})

test("a database that another user's run left behind: says which file", async () => {
  mkdirSync(data)
  writeFileSync(join(data, 'superbloom.db'), '')
  giveAway(join(data, 'superbloom.db'))
  const { code, stderr } = await run('start')
  expect(stderr).toContain(`may not read and write ${join(data, 'superbloom.db')} (it belongs to user`)
  expect(code).toBe(78)
})

test('agents that cannot be made: says which folder, without a stack', async () => {
  mkdirSync(data)
  mkdirSync(join(folder, 'closed'))
  giveAway(join(folder, 'closed'))
  agents = join(folder, 'closed', 'agents')
  const { code, stderr } = await run('start')
  expect(stderr).toMatch(/^superbloom: The folder of agents .*closed\/agents cannot be made: EACCES/m)
  expect(stderr).not.toMatch(/\n\s+at /)
  expect(code).toBe(78)
})

test('doctor finds it too', async () => {
  mkdirSync(data)
  giveAway(data)
  const { code, stdout } = await run('doctor')
  expect(stdout).toMatch(/^PROBLEM data: The data folder .* cannot be used/m)
  expect(code).toBe(1)
})
