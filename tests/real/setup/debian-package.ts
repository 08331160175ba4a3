import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { INSTALLED } from './scratch.ts'

/** Releases of Debian after bookworm. */
export type Suite = 'trixie' | 'forky'

/**
 * Returns the folder with the contents of a package of a later Debian, for programs that run on bookworm
 * unchanged. It is fetched and unpacked once, outside the repository, without its dependencies.
 */
export function unpackDebianPackage(name: string, suite: Suite = 'trixie'): string {
  const place = join(INSTALLED, `${name}-${suite}`)
  if (existsSync(place)) return place
  mkdirSync(INSTALLED, { recursive: true })
  const work = mkdtempSync(join(INSTALLED, `${name}-`))
  try {
    for (const folder of ['lists/partial', 'cache/archives/partial', 'etc', 'root'])
      mkdirSync(join(work, folder), { recursive: true })
    const [first = ''] = readFileSync('/etc/apt/sources.list.d/debian.sources', 'utf8').split('\n\n')
    writeFileSync(join(work, 'etc/later.sources'), `${first.replace(/^Suites:.*$/m, `Suites: ${suite}`)}\n`)
    const options = [
      'Dir::Etc::sourcelist=/dev/null',
      `Dir::Etc::sourceparts=${join(work, 'etc')}`,
      `Dir::State::lists=${join(work, 'lists')}`,
      `Dir::Cache=${join(work, 'cache')}`,
      'APT::Sandbox::User=root',
    ].flatMap(option => ['-o', option])
    const run = (command: string, args: string[]) => execFileSync(command, args, { cwd: work, stdio: 'pipe' })
    run('apt-get', [...options, 'update', '-qq'])
    run('apt-get', [...options, 'download', name])
    const deb = readdirSync(work).find(file => file.endsWith('.deb')) ?? `${name}.deb`
    run('dpkg', ['-x', deb, 'root'])
    if (!existsSync(place)) renameSync(join(work, 'root'), place)
    return place
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}
