import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { INSTALLED } from './scratch.ts'

const run = promisify(execFile)
const PROGRAMS = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubelet'] as const

/** Milliseconds that the build may take. */
export const BUILD_LIMIT = 40 * 60_000

/**
 * Resolves with the folder of Kubernetes' programs. No package has them, so they are built from Debian's
 * source package, which needs only the packages' network: about six minutes on two cores and 2.6 GB of
 * temporary files, once per machine.
 */
export async function buildKubernetes(): Promise<string> {
  const folder = join(INSTALLED, 'kubernetes')
  const programs = join(folder, 'bin')
  if (PROGRAMS.every(name => existsSync(join(programs, name)))) return programs
  mkdirSync(programs, { recursive: true })
  const source = await unpackSource(folder)
  const env = {
    ...process.env,
    PATH: `${goFolder()}:${process.env['PATH']}`,
    HOME: folder,
    CGO_ENABLED: '0',
    GOPROXY: 'off',
    GOLDFLAGS: '-s -w',
    KUBE_GIT_VERSION: 'v1.20.2',
    KUBE_GIT_COMMIT: 'debian',
    KUBE_GIT_TREE_STATE: 'clean',
  }
  const what = `WHAT=${PROGRAMS.map(name => `cmd/${name}`).join(' ')}`
  await run('nice', ['-n', '19', 'make', what], { cwd: source, env, maxBuffer: 64 * 1024 * 1024 })
  for (const name of PROGRAMS)
    renameSync(join(source, '_output/local/bin/linux/amd64', name), join(programs, name))
  rmSync(source, { recursive: true, force: true })
  return programs
}

/**
 * Unpacks the source from the machine's own mirror, with separate lists, so that the machine's settings do
 * not change.
 */
async function unpackSource(folder: string): Promise<string> {
  const apt = join(folder, 'apt')
  for (const path of ['lists/partial', 'cache/archives/partial', 'etc']) {
    mkdirSync(join(apt, path), { recursive: true })
  }
  const [mirror = ''] = readFileSync('/etc/apt/sources.list.d/debian.sources', 'utf8').split(/\n\n/)
  const sources = mirror
    .replace(/^Types:.*$/m, 'Types: deb-src')
    .replace(/^Suites:.*$/m, 'Suites: bookworm')
    .replace(/^Components:.*$/m, 'Components: main')
  writeFileSync(join(apt, 'etc/source.sources'), `${sources}\n`)
  const options = [
    'Dir::Etc::sourcelist=/dev/null',
    `Dir::Etc::sourceparts=${apt}/etc`,
    `Dir::State::lists=${apt}/lists`,
    `Dir::Cache=${apt}/cache`,
    'APT::Sandbox::User=root',
  ].flatMap(option => ['-o', option])
  await run('apt-get', [...options, 'update', '-qq'])
  await run('apt-get', [...options, 'source', '--download-only', '-qq', 'kubernetes'], { cwd: folder })
  const description = readdirSync(folder).find(name => /^kubernetes_.*\.dsc$/.test(name))
  if (description === undefined) throw new Error('Debian has no source package of Kubernetes any more')
  const source = join(folder, 'source')
  rmSync(source, { recursive: true, force: true })
  await run('dpkg-source', ['-x', description, source], { cwd: folder })
  return source
}

function goFolder(): string {
  const found = readdirSync('/usr/lib').find(name => /^go-1\.\d+$/.test(name))
  return join('/usr/lib', found ?? 'go', 'bin')
}
