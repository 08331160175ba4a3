import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../real/setup/scratch.ts'
import { type Program, startProgram } from '../support/program.ts'

const PROGRAM = fileURLToPath(new URL('../../hub/cli/superbloom.ts', import.meta.url))
const TOKEN = 'a-token-of-all-hubs'

const HOMELAB = { homelab: '---\ndescription: Looks after the homelab\n---\nYou look after it.\n' }

export type Machine = Awaited<ReturnType<typeof makeMachine>>

interface MachineOptions {
  path: string
  config?: string
  /** A further entry of `servers`. */
  server?: string
  /** The agents' files by their names. */
  agents?: Record<string, string>
}

/** Makes a machine: a data folder and files of its own, for one hub after the other on the same port. */
export async function makeMachine(
  url: string,
  { path, config = '', server = '', agents = HOMELAB }: MachineOptions,
) {
  mkdirSync(join(path, 'agents'), { recursive: true })
  for (const [name, file] of Object.entries(agents)) writeFileSync(join(path, `agents/${name}.md`), file)
  writeFileSync(
    join(path, 'superbloom.yaml'),
    `servers: { metrics: false${server && `, ${server}`} }\n${config}`,
  )
  const port = await freePort()
  const address = `http://127.0.0.1:${port}`
  return {
    hub: { url: address, token: TOKEN },
    get: async (door: string) => {
      const response = await fetch(`${address}${door}`)
      return { status: response.status, text: await response.text() }
    },
    /** Starts a hub, with arguments and further variables. */
    start: (options: readonly string[] = [], env: Record<string, string> = {}) =>
      startProgram(
        process.execPath,
        ['--disable-warning=ExperimentalWarning', PROGRAM, 'start', ...options],
        {
          cwd: path,
          env: {
            SUPERBLOOM_STORE: url,
            SUPERBLOOM_PORT: String(port),
            SUPERBLOOM_DATA: join(path, 'data'),
            SUPERBLOOM_AGENTS: join(path, 'agents'),
            SUPERBLOOM_TOKEN: TOKEN,
            ...env,
          },
        },
      ),
  }
}

/** Resolves once a hub leads. */
export const leads = (program: Program) => program.says(/Superbloom runs/, 60_000)
