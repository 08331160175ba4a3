import { globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { createEnvironment } from '../hub/config/environment.ts'
import { loadConfig } from '../hub/config/load.ts'

const root = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

interface Manifest {
  files: string[]
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
  optionalDependencies: Record<string, string>
  scripts: Record<string, string>
}

interface Service {
  command?: string[]
  environment: Record<string, string>
  volumes: (string | { source: string })[]
}

const manifest = JSON.parse(read('package.json')) as Manifest
const compose = parse(read('docker-compose.yml')) as {
  services: Record<'hub' | 'metrics', Service>
  volumes: Record<string, unknown>
}

test('every version is pinned exactly', () => {
  const { dependencies, devDependencies, optionalDependencies } = manifest
  const versions = Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies })
  expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([])
  expect(versions.length).toBeGreaterThan(30)
})

test('what the documents of the package link to is in the package too', () => {
  const packed = new Set(manifest.files.flatMap(path => globSync([path, `${path}/**`], { cwd: root })))
  const documents = [...packed].filter(path => path.endsWith('.md'))
  const links = documents.flatMap(document =>
    [...read(document).matchAll(/(?:\]\(|<img src=")(?![a-z]+:|#)([^)"#\s]+)/g)].map(([, target = '']) => ({
      document,
      path: posix.join(posix.dirname(document), target),
    })),
  )
  expect(links.filter(({ path }) => !packed.has(path))).toEqual([])
  expect(links.length).toBeGreaterThan(20)
})

test('the build makes every program that the hub starts beside itself', () => {
  const { include } = JSON.parse(read('tsconfig.build.json')) as { include: string[] }
  const programs = globSync('hub/**/*.ts', { cwd: root }).flatMap(file =>
    [...read(file).matchAll(/`\.\/([\w-]+)\.\$\{extension\}`/g)].map(([, name = '']) =>
      posix.join(posix.dirname(file), `${name}.ts`),
    ),
  )
  expect(include).toEqual(expect.arrayContaining(programs))
  expect(programs.length).toBeGreaterThan(2)
})

test('the lock file names no registry, and every package has its checksum', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { resolved?: string; integrity?: string; inBundle?: boolean }>
  }
  const entries = Object.entries(packages).filter(([path]) => path !== '')
  expect(entries.filter(([, entry]) => entry.resolved !== undefined)).toEqual([])
  expect(entries.filter(([, entry]) => !entry.integrity && !entry.inBundle)).toEqual([])
  expect(read('package-lock.json')).not.toMatch(/registry\.|\.tgz/)
  expect(entries.length).toBeGreaterThan(200)
})

test('the lock file has the Node of every platform', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, unknown> }
  const names = Object.keys(manifest.optionalDependencies)
  expect(names.filter(name => !(`node_modules/${name}` in packages))).toEqual([])
  expect(names).toEqual(
    expect.arrayContaining(
      [...read('bin/node.js').matchAll(/'[a-z0-9]+-[a-z0-9]+': '([^']+)'/g)].map(match => match[1]),
    ),
  )
})

test('the Node that comes along is for older ones only: npm leaves it out where its own is new enough', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { engines?: { node?: string } }>
  }
  const [, needed] = /NEEDED_MAJOR = (\d+)/.exec(read('bin/node.js')) ?? []
  // Those packages declare no engine themselves: add it to the lock file again after changing a version.
  for (const name of Object.keys(manifest.optionalDependencies))
    expect(packages[`node_modules/${name}`]?.engines, name).toEqual({ node: `<${needed}` })
})

test('no platform gets an old Node', () => {
  const old = Object.entries(manifest.optionalDependencies).filter(([, version]) => {
    const [major = 0, minor = 0] = version.split('.').map(Number)
    return major < 24 || (major === 24 && minor < 18)
  })
  expect(old).toEqual([])
})

test('the lock file has what is optional, for every platform: else npm 11 refuses it', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { optionalDependencies?: Record<string, string> }>
  }
  const paths = Object.keys(packages)
  const wanted = Object.values(packages).flatMap(entry => Object.keys(entry.optionalDependencies ?? {}))
  expect(wanted.filter(name => !paths.some(path => path.endsWith(`node_modules/${name}`)))).toEqual([])
  expect(wanted.length).toBeGreaterThan(20)
})

test('npm scripts run nothing of node_modules by the link that npm 10 drops', () => {
  const scripts = Object.values(manifest.scripts).join(' && ')
  expect(
    [...scripts.matchAll(/\bnode (\S+)/g)].map(match => match[1]).filter(path => !path?.startsWith('bin/')),
  ).toEqual([])
})

test('what the image copies is let into its build', () => {
  const allowed = read('.dockerignore').split('\n')
  const copied = [...read('Dockerfile').matchAll(/^COPY (.*) \S+$/gm)].flatMap(match =>
    (match[1] ?? '').split(' ').filter(word => word !== '.' && !word.startsWith('--')),
  )
  const wanted = copied
    .map(path => path.replace(/^\/app\//, ''))
    .filter(path => !['node_modules', 'dist'].includes(path))
  expect(wanted.filter(path => !allowed.includes(`!${path}`))).toEqual([])
  expect(wanted.length).toBeGreaterThan(5)
  for (const path of [
    'hub',
    'servers',
    'schemas',
    'scripts/build.ts',
    'tsconfig.json',
    'tsconfig.build.json',
    'tsconfig.page.json',
  ]) {
    expect(allowed).toContain(`!${path}`)
  }
})

test('Compose: nothing asks of the machine that its / passes mounts on, which not every machine has', () => {
  expect(read('docker-compose.yml')).not.toContain('propagation')
})

test('Compose: what services refer to is there', () => {
  for (const { volumes } of Object.values(compose.services)) {
    const sources = volumes.map(volume =>
      typeof volume === 'string' ? (volume.split(':')[0] ?? '') : volume.source,
    )
    const named = sources.filter(source => !/^[./]/.test(source))
    expect(named.filter(source => !(source in compose.volumes))).toEqual([])
  }
})

test('Compose: the hub finds the metrics server by its name, with its token', () => {
  const SERVER_TOKEN_METRICS = 'a-token-of-the-secret-file'
  const named = Object.keys(compose.services.hub.environment).filter(name => name.startsWith('SERVER_TOKEN'))
  const otherTokens = Object.fromEntries(named.map(name => [name.replace('_FILE', ''), name]))
  const environment = createEnvironment({
    SUPERBLOOM_CONFIG: join(root, 'docker', 'superbloom.yaml'),
    ...otherTokens,
    SERVER_TOKEN_METRICS,
  })
  const { servers, warnings } = loadConfig(environment)
  const command = compose.services.metrics.command ?? []
  const port = command[command.indexOf('--http') + 1]
  expect(warnings).toEqual([])
  expect(servers['metrics']).toEqual({
    url: `http://metrics:${port}/mcp`,
    headers: { Authorization: `Bearer ${SERVER_TOKEN_METRICS}` },
    prefix: '',
    trust: 'own',
  })
  expect(command[command.indexOf('--allow-host') + 1]).toBe('metrics')
})
