import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SettingsError } from '../../kit/env.ts'

/** Paths of the monitored machine's files. */
export interface Roots {
  /** The host's `/` inside a container; undefined if this process runs on the host itself. */
  readonly host: string | undefined
  readonly proc: string
  readonly sys: string
}

/** Finds the paths. Throws SettingsError if `host` is not a folder that holds a system. */
export function findRoots(host: string | undefined): Roots {
  if (host === undefined) return { host, proc: '/proc', sys: '/sys' }
  if (!existsSync(join(host, 'etc'))) {
    throw new SettingsError([
      `METRICS_HOST_ROOT is "${host}", but there is no ${join(host, 'etc')}: mount the host's / there (-v /:/host:ro,rslave).`,
    ])
  }
  const inHost = (folder: string, sign: string) =>
    existsSync(join(host, folder, sign)) ? join(host, folder) : `/${folder}`
  return { host, proc: inHost('proc', 'stat'), sys: inHost('sys', 'class') }
}

/** Reads a small file's text without white space around it; undefined if it is missing or cannot be read. */
export async function readText(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch {
    return undefined // sensors and pseudo files come and go; the caller omits missing ones
  }
}

/** Reads the first readable file. Rejects with the last one's error if there is none. */
export async function readFirst(paths: readonly string[]): Promise<string> {
  for (const path of paths.slice(0, -1)) {
    const text = await readText(path)
    if (text !== undefined) return text
  }
  return readFile(paths.at(-1) ?? '', 'utf8')
}

/** Reads a number from a file; undefined if there is none. */
export async function readNumber(path: string): Promise<number | undefined> {
  const text = await readText(path)
  return text !== undefined && /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : undefined
}
