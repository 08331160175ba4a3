import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SettingsError } from '../../../kit/env.ts'

/** Where the looked-at machine's files are. */
export interface Roots {
  /** The host's `/` inside a container; undefined where this process runs on the host itself. */
  readonly host: string | undefined
  readonly proc: string
  readonly sys: string
}

/** Throws SettingsError where `host` is no folder that holds a system. */
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

/** A small file's text without white space around it, or undefined where it is missing or cannot be read. */
export async function readText(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch {
    return undefined // sensors and pseudo files come and go; the caller leaves out what is not there
  }
}

/** The text of the first file that can be read. Rejects with the last one's error where none can. */
export async function readFirst(paths: readonly string[]): Promise<string> {
  for (const path of paths.slice(0, -1)) {
    const text = await readText(path)
    if (text !== undefined) return text
  }
  return readFile(paths.at(-1) ?? '', 'utf8')
}

/** A number of a file; undefined where there is none. */
export async function readNumber(path: string): Promise<number | undefined> {
  const text = await readText(path)
  return text !== undefined && /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : undefined
}
