import { describe, expect, test } from 'vitest'
import { EXAMPLES } from '../../hub/cli/examples.ts'
import { createProgram } from '../../hub/cli/program.ts'
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

  test.each(Object.entries(EXAMPLES))(
    'the examples of %s are commands with options that exist',
    async (path, examples) => {
      const [name, inner] = path.split(' ')
      const outer = (await createProgram()).commands.find(each => each.name() === name)
      const command = inner === undefined ? outer : outer?.commands.find(each => each.name() === inner)
      const known = command?.options.map(({ long }) => long)
      for (const example of examples) {
        expect(example).toMatch(new RegExp(`^superbloom ${path} `))
        const [own = ''] = example.split(' -- ')
        for (const [option] of own.matchAll(/--[a-z-]+/g)) expect(known, example).toContain(option)
      }
      const { stdout } = await runCli([...path.split(' '), '--help'])
      for (const example of examples) expect(stdout).toContain(example)
    },
  )
})
