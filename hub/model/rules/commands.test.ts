import { describe, expect, it } from 'vitest'
import type { ModelTool } from '../../core/model.ts'
import { readCatalogue } from './catalogue.ts'
import { readCommand } from './commands.ts'
import { findJsonError } from './json-error.ts'
import sample from './testing/sample-catalogue.json' with { type: 'json' }

const catalogue = readCatalogue({
  tools: [...sample.servers, ...sample.metaTools] as ModelTool[],
  messages: [],
})
const run = (text: string) => readCommand(text, catalogue)
const text = (input: string) => {
  const command = run(input)
  return command?.kind === 'say' ? command.text : ''
}

describe('/call', () => {
  it('takes an exact name and a JSON object', () => {
    expect(run('/call get_processes {"limit": 5}')).toMatchObject({
      kind: 'call',
      tool: { name: 'get_processes' },
      arguments: { limit: 5 },
    })
    expect(run('/call get_system_metrics')).toMatchObject({ kind: 'call', arguments: {} })
    expect(run('/CALL schedule_wake {"delay":"2m",\n"reason":"x"}')).toMatchObject({
      arguments: { delay: '2m', reason: 'x' },
    })
  })

  it.each([
    ['/call get_processes {"limit": }', '“}” at position 11'],
    ['/call get_processes {"limit": 5', 'end too early, after 11 characters'],
    ["/call get_processes {'limit': 5}", 'at position 2'],
    ['/call get_processes [1]', 'in braces'],
    ['/call get_processes sort=cpu', 'position 1'],
    ['/call get_proceses {}', 'Did you mean `get_processes`'],
    ['/call', 'Say which tool'],
  ])('%s → %s', (input, expected) => {
    expect(text(input)).toContain(expected)
  })

  it('tries a tool behind find_tools by its name', () => {
    const tools = ['find_tools', 'call_tool'].map(name => ({ name, description: '', inputSchema: {} }))
    expect(readCommand('/call get_x {}', readCatalogue({ tools, messages: [] }))).toMatchObject({
      tool: { found: true },
    })
  })
})

describe('/tools', () => {
  it('lists by group, one line each', () => {
    const list = text('/tools')
    expect(list).toMatch(/\*\*Looking \(changes nothing\)\*\*\n- `get_system_metrics`: How/)
    for (const group of ['**Doing**', '**files**', '**memory**', '**Reminders, memory, tasks**'])
      expect(list).toContain(group)
    for (const tool of catalogue.callable) expect(list).toContain(`\`${tool.name}\``)
  })

  it('filters, explains one tool, and says when nothing fits', () => {
    expect(text('/tools game')).not.toContain('get_system_metrics')
    expect(text('/tools get_processes')).toContain('**sort** (one of cpu, memory, default "cpu")')
    expect(text('/tools xyzzy')).toContain('No tool has “xyzzy”')
  })
})

it('knows /help, names its commands for an unknown one, and leaves paths alone', () => {
  expect(text('/help')).toContain('OPENAI_BASE_URL')
  expect(text('/help')).toMatch(/`\/stop` stops what I do, `\/reset` starts me fresh/)
  expect(text('/frobnicate')).toContain('/help, /tools, /call')
  expect(run('/etc/passwd')).toBeUndefined()
  expect(run('how is /help used')).toBeUndefined()
})

describe('findJsonError', () => {
  it.each<[string, number | undefined]>([
    ['{"a": [1, 2.5e3, "x\\n", null, true, {}]}', undefined],
    ['{"a" 1}', 5],
    ['{"a": 1,}', 8],
    ['{"a": 1} x', 9],
    ['[1 2]', 3],
    ['{"a": tru}', 6],
    ['', 0],
    ['{"a": "x', 6],
  ])('%s → %s', (json, expected) => {
    expect(findJsonError(json)).toBe(expected)
  })
})
