import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const SIBLINGS = [
  'model',
  'upstream',
  'meta-tools',
  'runtime',
  'channels',
  'triggers',
  'mcp',
  'http',
  'notify',
  'telemetry',
  'house',
]

/** The paths that files of each part may import, by their beginnings. */
const ALLOWED: readonly { part: string; imports: string[] }[] = [
  { part: 'schemas/', imports: ['schemas/'] },
  { part: 'servers/kit/', imports: ['servers/kit/', 'schemas/'] },
  { part: 'hub/web/', imports: ['hub/web/', 'schemas/'] },
  // The demo's machine is the one that the metrics server is tested with.
  { part: 'hub/demo/', imports: ['hub/demo/', 'hub/core/', 'servers/metrics/machine/fixture-host.ts'] },
  { part: 'hub/core/', imports: ['hub/core/', 'schemas/'] },
  { part: 'hub/store/', imports: ['hub/store/', 'hub/core/', 'schemas/'] },
  // The list of the built-in servers names their programs.
  {
    part: 'hub/config/built-ins.ts',
    imports: ['hub/config/', 'hub/upstream/decide-servers.ts', 'servers/'],
  },
  { part: 'hub/config/', imports: ['hub/config/', 'hub/core/', 'schemas/'] },
  // It asks programs as their server would, and writes their settings into the config.
  {
    part: 'hub/programs/',
    imports: ['hub/programs/', 'hub/config/', 'hub/core/', 'servers/kit/', 'schemas/'],
  },
  {
    part: 'hub/catalogue/',
    imports: ['hub/catalogue/', 'hub/upstream/', 'hub/meta-tools/', 'hub/store/', 'hub/core/', 'schemas/'],
  },
  ...SIBLINGS.map(name => ({
    part: `hub/${name}/`,
    imports: [`hub/${name}/`, 'hub/store/', 'hub/core/', 'schemas/'],
  })),
]

function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map(path => `${folder}/${path.replaceAll('\\', '/')}`)
    .filter(path => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .filter(path => !path.includes('/testing/'))
}

/** Returns our own files that a file imports, by their paths from the root. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8')
  const specifiers = [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(match => match[1] ?? '')
  return specifiers.map(path => relative(root, resolve(root, dirname(file), path)).replaceAll('\\', '/'))
}

const files = ['hub', 'schemas', 'servers'].flatMap(filesBelow)

test('imports go one way: schemas, core, store, siblings, hub', () => {
  let looked = 0
  const wrong = files.flatMap(file => {
    const server = /^servers\/(?!kit\/)([^/]+)\//.exec(file)?.[1]
    const rule = server
      ? { part: file, imports: [`servers/${server}/`, 'servers/kit/', 'schemas/'] }
      : ALLOWED.find(({ part }) => file.startsWith(part))
    if (!rule) return []
    const imports = importsOf(file)
    looked += imports.length
    return imports
      .filter(path => !rule.imports.some(beginning => path.startsWith(beginning)))
      .map(path => `${file} imports ${path}`)
  })
  expect(wrong).toEqual([])
  expect(looked).toBeGreaterThan(100)
})

test('only the composition root and the command line import main and hub', () => {
  const importers = files.filter(file => importsOf(file).some(path => /^hub\/(hub|main)\.ts$/.test(path)))
  expect(importers.filter(file => file.startsWith('hub/cli/') || /^hub\/[^/]+\.ts$/.test(file))).toEqual(
    importers,
  )
  expect(importers.length).toBeGreaterThan(0)
})

test('only the command of the demo loads it', () => {
  const importers = files.filter(
    file => !file.startsWith('hub/demo/') && importsOf(file).some(path => path.startsWith('hub/demo/')),
  )
  expect(importers).toEqual(['hub/cli/commands/demo.ts'])
})

test('the root of the hub has four files, and main stays trivial', () => {
  const atRoot = files.filter(file => /^hub\/[^/]+$/.test(file))
  expect(atRoot.sort()).toEqual(['hub/engine.ts', 'hub/entrances.ts', 'hub/hub.ts', 'hub/main.ts'])
  expect(readFileSync(join(root, 'hub/main.ts'), 'utf8').split('\n').length).toBeLessThanOrEqual(40)
})

test('every source file was looked at', () => {
  expect(files.length).toBeGreaterThan(80)
})

test('docs/architecture.md names every room and no file that does not exist', () => {
  const text = readFileSync(join(root, 'docs/architecture.md'), 'utf8')
  const named = [...text.matchAll(/`((?:hub|schemas|servers|agents|tests)\/[\w./-]*)`/g)].map(
    match => match[1] ?? '',
  )
  expect(named.filter(path => !existsSync(join(root, path)))).toEqual([])
  const rooms = new Set(files.flatMap(file => /^hub\/[^/]+\//.exec(file)?.[0] ?? []))
  expect(named).toEqual(expect.arrayContaining([...rooms]))
})
