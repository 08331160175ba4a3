import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createAgentEditor } from './agent-editor.ts'
import { parseAgentFile } from './agent-files.ts'
import { createEnvironment } from './environment.ts'

const by = { id: 'tok', name: 'owner', role: 'owner' as const }
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'superbloom-editor-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function open(agentsFolder = folder) {
  const changes: string[] = []
  const fileOf = (name: string) => join(agentsFolder, `${name}.md`)
  const environment = createEnvironment({})
  const editor = createAgentEditor({
    agents: { fileOf, parse: (name, text) => parseAgentFile(fileOf(name), text, environment, undefined) },
    dataFolder: join(folder, 'data'),
    onChange: async file => void changes.push(file),
  })
  return { editor, changes, fileOf }
}

test('a link stays a link', async () => {
  const { editor, changes, fileOf } = open()
  mkdirSync(join(folder, 'dotfiles'))
  writeFileSync(join(folder, 'dotfiles', 'aunt.md'), 'You bake.')
  symlinkSync(join(folder, 'dotfiles', 'aunt.md'), fileOf('aunt'))
  const { sha256 } = editor.read('aunt')
  await editor.write({ name: 'aunt', text: 'You cook.', sha256 }, by)
  expect(readFileSync(join(folder, 'dotfiles', 'aunt.md'), 'utf8')).toBe('You cook.')
  expect(editor.read('aunt').former).toBe('You bake.')
  expect(changes).toEqual([fileOf('aunt')])
})

test('a folder that cannot be written is an error that says what to do', async () => {
  // A file in place of the folder refuses root too.
  writeFileSync(join(folder, 'agents'), '')
  const { editor, changes } = open(join(folder, 'agents'))
  await expect(editor.write({ name: 'aunt', text: 'You bake.', sha256: undefined }, by)).rejects.toThrow(
    /^.*aunt\.md cannot be written \(ENOTDIR.*\): make it writable for the user that the hub runs as/,
  )
  expect(changes).toEqual([])
})

test('a wrong text keeps the file, and says which line is wrong', async () => {
  const { editor, fileOf } = open()
  writeFileSync(fileOf('aunt'), 'You bake.')
  chmodSync(fileOf('aunt'), 0o640)
  const text = '---\ntools: 3\n---\nHi.'
  expect(editor.check('aunt', text)).toEqual({
    problems: [{ line: 2, message: expect.stringMatching(/^tools: /) }],
  })
  expect(editor.check('aunt', '---\ntools: []\n---\n')).toEqual({
    problems: [{ message: 'has no prompt below its front matter' }],
  })
  const { sha256 } = editor.read('aunt')
  await expect(editor.write({ name: 'aunt', text, sha256 }, by)).rejects.toThrow(/aunt\.md:2: tools/)
  expect(readFileSync(fileOf('aunt'), 'utf8')).toBe('You bake.')
})
