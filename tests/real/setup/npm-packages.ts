import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { INSTALLED } from './scratch.ts'

/**
 * Installs third-party packages at these exact versions if they are missing, without their scripts. Returns
 * the folder whose `node_modules` has them; a `title` names the folder of many packages. Other runs may do
 * this at the same time: the first one moves its folder into place.
 */
export function installPackages(versions: Readonly<Record<string, string>>, title?: string): string {
  const packages = Object.entries(versions).map(([name, version]) => `${name}@${version}`)
  const folder = join(INSTALLED, title === undefined ? joined(packages) : `${title}-${hash(packages)}`)
  if (existsSync(folder)) return folder
  mkdirSync(INSTALLED, { recursive: true })
  const making = mkdtempSync(join(INSTALLED, 'making-'))
  try {
    writeFileSync(join(making, 'package.json'), '{ "private": true }\n')
    const options = [
      '--no-audit',
      '--no-fund',
      '--ignore-scripts',
      '--no-package-lock',
      '--omit=dev',
      '--loglevel=error',
    ]
    execFileSync('npm', ['install', ...options, ...packages], {
      cwd: making,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    if (!existsSync(folder)) renameSync(making, folder)
  } finally {
    rmSync(making, { recursive: true, force: true })
  }
  return folder
}

function joined(packages: readonly string[]): string {
  return packages.map(one => one.replaceAll('/', '_').replace('@', '-')).join('-')
}

function hash(packages: readonly string[]): string {
  return createHash('sha256').update(packages.join()).digest('hex').slice(0, 12)
}
