import { existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'

/** Makes a folder and its missing parents. With `recursive`, Node would try forever in /proc. */
export function makeFolder(folder: string, mode?: number): void {
  if (existsSync(folder)) return
  makeFolder(dirname(folder), mode)
  try {
    mkdirSync(folder, mode)
  } catch (error) {
    // Another process may have made the folder meanwhile.
    if (!existsSync(folder)) throw error
  }
}
