import { copyFileSync, existsSync, writeFileSync } from 'node:fs'
import { writing } from './write-file.ts'

/**
 * Writes the config file after a copy, in place, to keep owner, mode and links; a new one is for its owner alone.
 * Returns its path and the copy's. Throws `unavailable` with a remedy, and what to write `byHand`, where it cannot be
 * written.
 */
export function rewriteConfig(
  configFile: string,
  text: string,
  byHand?: string,
): { file: string; backup?: string } {
  const backup = `${configFile}.bak`
  const isThere = existsSync(configFile)
  if (isThere) writing(backup, () => copyFileSync(configFile, backup), byHand)
  writing(configFile, () => writeFileSync(configFile, text, { mode: 0o600 }), byHand)
  return { file: configFile, ...(isThere ? { backup } : {}) }
}
