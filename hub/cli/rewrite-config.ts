import { copyFileSync, existsSync, writeFileSync } from 'node:fs'
import { writing } from '../config/write-file.ts'

/**
 * Writes the config file after a copy, in place, to keep owner, mode and links; returns its path, with where the copy
 * is. Throws `unavailable` with a remedy where it cannot be written.
 */
export function rewriteConfig(configFile: string, text: string): string {
  const backup = `${configFile}.bak`
  const isThere = existsSync(configFile)
  if (isThere) writing(backup, () => copyFileSync(configFile, backup))
  writing(configFile, () => writeFileSync(configFile, text))
  return `${configFile}${isThere ? `; it was before as in ${backup}` : ''}`
}
