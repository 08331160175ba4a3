import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import type { Reach } from '../../schemas/reach.ts'
import { HubError } from '../core/errors.ts'
import type { Principal } from '../core/principal.ts'
import type { ConfigEditor } from './config-editor.ts'
import { addHosts } from './host-names.ts'
import type { LiveConfig } from './live-config.ts'
import { packageFolder } from './paths.ts'
import { decideReach } from './reach.ts'

interface HomeNetworkDeps {
  config: Pick<LiveConfig, 'current'>
  editor: Pick<ConfigEditor, 'file' | 'rewrite'>
  /** Returns the address that the hub listens on. */
  url: () => string
  inContainer: boolean
  interfaces?: typeof networkInterfaces
}

/** Creates what says how other devices reach the hub, and lets their addresses in. */
export function createHomeNetwork({
  config,
  editor,
  url,
  inContainer,
  interfaces = networkInterfaces,
}: HomeNetworkDeps) {
  const reach = (): Reach =>
    decideReach({ url: url(), config: config.current, interfaces: interfaces(), inContainer })
  return {
    reach,
    /** Path of the document about phones. */
    document: join(packageFolder, 'docs', 'phone.md'),
    /** Writes the refused addresses under `hosts`. Throws `conflict`, where there are none too, and `unavailable`. */
    letIn: (by: Principal): Promise<{ file: string }> => {
      const found = reach()
      const refused = found.kind === 'reached' ? found.refused : []
      if (refused.length === 0)
        throw new HubError('conflict', 'The hub refuses no address at which it is reached.')
      return editor.rewrite(text => addHosts({ file: editor.file, text }, refused), by)
    },
  }
}
