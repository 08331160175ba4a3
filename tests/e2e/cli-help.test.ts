import { describe, expect, test } from 'vitest'
import { builtIns } from '../../hub/config/built-ins.ts'
import { runCli } from '../support/cli.ts'

describe('help', () => {
  test.each([
    [[], ['start', 'chat', 'ask', 'mcp', 'serve', 'status', 'doctor', 'config']],
    [['start'], ['start']],
    [['chat'], ['[conversation]']],
    [['ask'], ['<agent>', '<text...>', '--wait']],
    [['mcp'], ['--config', 'claude-desktop']],
    [['serve'], ['<name>', ...builtIns.map(({ name }) => name), '--http', '--host', '--allow-host']],
    [['status'], ['--json']],
    [['doctor'], ['doctor']],
    [['backup'], ['[file]']],
    [['restore'], ['<file>']],
    [['config'], ['schema']],
    [['config', 'schema'], ['schema']],
  ])('%j --help', async (args, words) => {
    const { code, stdout } = await runCli([...args, '--help'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^Usage: superbloom/)
    for (const word of words) expect(stdout).toContain(word)
  })

  test('--version says the package’s', async () => {
    expect(await runCli(['--version'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    })
  })
})
