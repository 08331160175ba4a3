import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Ended, runCli } from '../support/cli.ts'
import { openClient, textOf } from '../support/clients.ts'
import { odd } from '../support/downstream.ts'
import { untilNoChildren } from '../support/processes.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'

const { command, args } = odd().entry
const CONFIG = `# The house
servers:
  metrics: false
  # Said by hand.
  fixed: { command: ${JSON.stringify(command)}, args: ${JSON.stringify(args)} } # stays
`

let hub: TestHub
beforeAll(async () => {
  hub = await startTestHub({ config: CONFIG })
})
afterAll(async () => {
  await hub[Symbol.asyncDispose]()
  await untilNoChildren()
})

/** Runs the command without the hub's own variables except the one for its data folder. */
const run = (...words: string[]): Promise<Ended> =>
  runCli(['servers', ...words], { cwd: hub.dataFolder, variables: { SUPERBLOOM_DATA: hub.dataFolder } })
const inData = (path: string) => join(hub.dataFolder, 'servers', path)
const tools = async () => {
  await using client = await openClient('sdk 2, 2026-07-28', hub)
  return (await client.listTools()).map(tool => tool.name)
}

test('a server is added, switched off and on, removed and had back, each as soon as the command ends', async () => {
  const added = await run('add', 'lamp', '--env', 'LAMP_TOKEN=hunter2', '--', command, ...args)
  expect(added).toMatchObject({ code: 0, stderr: '' })
  expect(added.stdout).toContain('lamp: ready, 3 tools (drop-in, stdio, legacy)')
  expect(statSync(inData('lamp/mcp.json')).mode & 0o777).toBe(0o600)
  expect(JSON.parse(readFileSync(inData('lamp/mcp.json'), 'utf8'))).toEqual({
    command,
    args,
    env: { LAMP_TOKEN: 'hunter2' },
  })
  expect(await tools()).toContain('lamp__pid')

  expect((await run('disable', 'lamp')).stdout).toContain('lamp: disabled, 0 tools')
  expect(await tools()).not.toContain('lamp__pid')
  expect((await run('enable', 'lamp')).stdout).toContain('lamp: ready, 3 tools')

  const removed = await run('remove', 'lamp')
  expect(await tools()).not.toContain('lamp__pid')
  const back = /add (lamp) (--json) (\S+)$/m.exec(removed.stdout)?.slice(1) ?? []
  expect((await run('add', ...back)).stdout).toContain('lamp: ready, 3 tools')
  const all = JSON.stringify([added, removed])
  expect(all).not.toContain('hunter2')
})

test('a tool that its server makes more dangerous is shown and asks, until a person accepts it', async () => {
  const program = readFileSync(args[0] ?? '', 'utf8')
  const file = join(hub.folder, 'risky.ts')
  writeFileSync(file, program)
  expect((await run('add', 'risky', '--', command, file)).stdout).toContain('risky: ready, 3 tools')
  writeFileSync(file, program.replace('readOnlyHint: true', 'destructiveHint: true'))
  await run('disable', 'risky')
  const shown = '1 tool changed: pid; superbloom servers accept risky'
  expect((await run('enable', 'risky')).stdout).toContain(shown)
  await using client = await openClient('sdk 2, 2026-07-28', hub)
  const call = { tool: 'risky__pid' }
  const why = /pid.*asks a person: its server changed it from look to destroy on \d{4}-/
  expect(textOf(await client.call('hub_explain_policy', call))).toMatch(why)
  const changedTools = [{ name: 'pid', what: ['annotations'], rise: { from: 'look', to: 'destroy' } }]
  expect((await client.call('hub_status', {})).structuredContent).toMatchObject({
    servers: expect.arrayContaining([expect.objectContaining({ name: 'risky', changedTools })]),
  })
  expect(await run('accept', 'risky')).toMatchObject({ code: 0, stdout: 'Accepted 1 changed tool: pid.\n' })
  const { structuredContent } = await client.call('hub_list_events', { type: 'hub.tool_changed' })
  const payload = { server: 'risky', tool: 'pid', what: ['annotations'] }
  expect(structuredContent).toMatchObject({ events: [{ source: 'hub', payload }] })
  expect(textOf(await client.call('hub_explain_policy', call))).not.toMatch(why)
  expect((await run()).stdout).not.toContain('changed')
  expect(await run('accept', 'nobody')).toMatchObject({ code: 1, stderr: expect.stringContaining('nobody') })
})

test('what the config file says is changed there, with its comments and a copy of before', async () => {
  const disabled = await run('disable', 'fixed')
  expect(disabled).toMatchObject({ code: 0, stderr: '' })
  expect(disabled.stdout).toContain('fixed: disabled, 0 tools (config, stdio)')
  expect(readFileSync(hub.configFile, 'utf8')).toBe(
    CONFIG.replace('{ command', '{ "disabled": true, command'),
  )
  expect(readFileSync(`${hub.configFile}.bak`, 'utf8')).toBe(CONFIG)
  expect((await run('enable', 'fixed')).stdout).toContain('fixed: ready, 3 tools (config, stdio')
  expect(readFileSync(hub.configFile, 'utf8')).toBe(CONFIG)
  const removed = (await run('remove', 'fixed')).stdout
  expect(removed).toContain('fixed: not there any more')
  expect(removed).toContain(`: cp ${hub.configFile}.bak ${hub.configFile}\n`)
  expect(readFileSync(hub.configFile, 'utf8')).toBe(CONFIG.replace(/ {2}fixed.*\n/, ''))
  hub.writeConfig(CONFIG)
})

test('a program of the user’s own is put aside, never deleted, and nothing starts it there', async () => {
  const program = readFileSync(args[0] ?? '', 'utf8')
  hub.writeData('servers/mine/server.ts', program)
  expect((await run('disable', 'mine')).stdout).toContain('mine: disabled')
  expect(existsSync(inData('mine/disabled'))).toBe(true)
  expect((await run('disable', 'mine')).stdout).toBe('mine is switched off already.\n')
  mkdirSync(inData('.removed-mine'))
  const { stdout } = await run('remove', 'mine')
  expect(stdout).toContain(`To get it back: mv ${inData('.removed-mine-2')} ${inData('mine')}`)
  expect(readFileSync(inData('.removed-mine-2/server.ts'), 'utf8')).toBe(program)
})

test('built-in servers are switched, not removed', async () => {
  expect((await run('enable', 'metrics')).stdout).toContain('metrics: ready, 10 tools (built-in')
  expect(await run('remove', 'metrics')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('superbloom servers disable metrics switches it off'),
  })
  hub.writeConfig(CONFIG)
})

test('a server that does not run is told with its reason, exit code 1', async () => {
  const added = await run(
    'add',
    'broken',
    '--',
    command,
    '-e',
    'console.error("no lamp here");process.exit(3)',
  )
  expect(added.code).toBe(1)
  expect(added.stdout).toMatch(/broken: down, 0 tools[\s\S]*no lamp here/)
})

test('names that are taken or unknown, and what cannot be written, are answered with what to do', async () => {
  hub.writeData('servers/there/mcp.json', JSON.stringify({ command, args, disabled: true }))
  const wrong = async (...words: string[]) => {
    const { code, stderr, stdout } = await run(...words)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    return stderr
  }
  expect(await wrong('add', 'there', '--', 'x')).toMatch(
    /dropped-in server there.*superbloom servers remove there/,
  )
  expect(await wrong('add', 'fixed', '--', 'x')).toMatch(/superbloom\.yaml says.*it wins.*take another name/)
  expect(await wrong('remove', 'nobody')).toMatch(/no server nobody; there is .*fixed/)
  expect(await wrong('add', 'files', 'npx', '-y', 'x')).toMatch(/unknown option '-y'[\s\S]*put -- in front/)
  // A file in place of the folder stops even root.
  writeFileSync(inData('blocked'), '')
  expect(await wrong('add', 'blocked', '--', 'x')).toMatch(/cannot be written/)
  rmSync(inData('blocked'))
})

test('without a hub it is written for the next start', async () => {
  await hub.stop()
  const { code, stdout } = await run('add', 'later', '--', command, ...args)
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringContaining('the next one that starts takes it'),
  })
  await hub.start()
  expect((await run('list')).stdout).toContain('later: ')
})
