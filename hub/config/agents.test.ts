import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeTempFolder } from '../../tests/support/temp-store.ts'
import { createLog } from '../core/log.ts'
import type { ModelsConfig } from '../core/model.ts'
import { createAgents } from './agents.ts'

function openAgents(name = 'agents') {
  const folder = makeTempFolder()
  const logged: string[] = []
  const log = createLog({ level: 'debug', now: () => 0, write: line => logged.push(JSON.parse(line).event) })
  const path = name === '' ? folder.path : join(folder.path, name)
  const config: { model?: ModelsConfig } = {}
  const agents = createAgents(
    path,
    () => undefined,
    log,
    () => config.model,
  )
  return {
    agents,
    config,
    logged,
    file: (file: string) => join(path, `${file}.md`),
    names: () => agents.all.map(agent => agent.name),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  }
}

test('where there is no folder it is made, with the default agent', () => {
  using opened = openAgents()
  expect(opened.names()).toEqual(['homelab'])
  expect(existsSync(opened.file('homelab'))).toBe(true)
  expect(opened.agents.problems).toEqual([])
})

test('a file in the place of the folder is refused by its variable', () => {
  using opened = openAgents('')
  writeFileSync(opened.file('a'), 'I am a.')
  const log = createLog({ level: 'error', now: () => 0, write: () => undefined })
  expect(() =>
    createAgents(
      opened.file('a'),
      () => undefined,
      log,
      () => undefined,
    ),
  ).toThrow(`SUPERBLOOM_AGENTS: ${opened.file('a')} is not a folder`)
})

test('an empty folder stays empty', () => {
  using opened = openAgents('')
  expect(opened.names()).toEqual([])
})

test('a file that is wrong leaves its agent as it was; one that is gone takes it along', () => {
  using opened = openAgents('')
  const { agents, file } = opened
  writeFileSync(file('b'), 'I am b.')
  writeFileSync(file('a'), 'I am a.')
  agents.reload()
  expect(opened.names()).toEqual(['a', 'b'])
  writeFileSync(file('a'), '---\nx: 1\n---\nI am another.')
  writeFileSync(file('c'), '---\nx: 1\n---\nI am c.')
  agents.reload()
  expect(opened.names()).toEqual(['a', 'b'])
  expect(agents.find('a')?.prompt).toBe('I am a.')
  expect(agents.problems).toEqual([`${file('a')}:2: x: no such key`, `${file('c')}:2: x: no such key`])
  expect(opened.logged).toEqual(['agent_file_wrong', 'agent_file_wrong'])
  rmSync(file('b'))
  writeFileSync(file('a'), 'I am new.')
  rmSync(file('c'))
  agents.reload()
  expect([opened.names(), agents.find('a')?.prompt, agents.find('b')]).toEqual([
    ['a'],
    'I am new.',
    undefined,
  ])
  expect(agents.problems).toEqual([])
})

test('an agent with a limit on money is there once there are prices, and stays as it is without', () => {
  using opened = openAgents('')
  const { agents, file, config } = opened
  writeFileSync(file('a'), '---\nlimits: { moneyPerDay: 2 }\n---\nI am a.')
  agents.reload()
  expect(opened.names()).toEqual([])
  expect(agents.problems[0]).toContain(
    `${file('a')}:2: limits.moneyPerDay: money cannot be limited without prices`,
  )
  const price = { currency: 'EUR', input: 1, cachedInput: 1, output: 1 }
  const model = { provider: 'openai', baseUrl: 'http://localhost/v1', model: 'm', price } as const
  config.model = { default: model, fallback: [], compaction: undefined, named: {} }
  agents.reload()
  expect([opened.names(), agents.problems]).toEqual([['a'], []])
  delete config.model
  agents.reload()
  expect([opened.names(), agents.problems.length]).toEqual([['a'], 1])
})
