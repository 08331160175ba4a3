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
  return {
    file,
    read: () => readForChange(file),

    /**
     * Writes the keys; what else stands in the file stays. Resolves once the change is in force. Throws `conflict` where
     * the file cannot be changed safely or somebody else is changing it, `bad_request` where it would be wrong, and `unavailable` where it cannot be
     * written.
     */
    async change(changes: readonly ConfigChange[], by: Principal): Promise<{ file: string }> {
      const before = readForChange(file)
      const text = changes.reduce((rest, [path, value]) => setKey({ file, text: rest }, path, value), before)
      check(text)
      rewriteConfig(file, before, text)
      await onChange(file, by)
      return { file }
    },
  }
}
