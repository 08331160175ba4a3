import type { Principal } from '../core/principal.ts'
import { setKey, type YamlPath } from './edit-yaml.ts'
import type { LiveConfig } from './live-config.ts'
import { readForChange, rewriteConfig } from './rewrite-config.ts'

/** A key of the config file with the value that it gets; undefined removes it. */
export type ConfigChange = readonly [path: YamlPath, value: unknown]

export type ConfigEditor = ReturnType<typeof createConfigEditor>

/** Creates what changes keys of the config file, and puts the change in force. */
export function createConfigEditor(
  { file, check }: Pick<LiveConfig, 'file' | 'check'>,
  onChange: (file: string, by: Principal) => Promise<void>,
) {
  /**
   * Writes what `edit` makes of the file's text. Resolves once the change is in force. Throws `conflict` where somebody
   * else is changing the file, `bad_request` where it would be wrong, and `unavailable` where it cannot be written.
   */
  const rewrite = async (edit: (text: string) => string, by: Principal): Promise<{ file: string }> => {
    const before = readForChange(file)
    const text = edit(before)
    check(text)
    rewriteConfig(file, before, text)
    await onChange(file, by)
    return { file }
  }
  return {
    file,
    read: () => readForChange(file),

    /**
     * Writes the keys; what else stands in the file stays. Resolves and throws as `rewrite` does, and throws `conflict`
     * where the file cannot be changed safely.
     */
    change: (changes: readonly ConfigChange[], by: Principal): Promise<{ file: string }> =>
      rewrite(
        before => changes.reduce((text, [path, value]) => setKey({ file, text }, path, value), before),
        by,
      ),
    rewrite,
  }
}
