import { fileURLToPath } from 'node:url'
import { npmServer, recorder, untilReady } from '../../support/downstream.ts'
import { startProgram } from '../../support/program.ts'
import { startTestHub } from '../../support/test-hub.ts'
import { labelOf } from './clients.ts'
import type { ClientDriver } from './open-client.ts'
import { install, versionOf } from './packages.ts'
import type { Measured } from './probe.ts'

const PROBE = fileURLToPath(new URL('./probe.ts', import.meta.url))
const NOTEBOOK = fileURLToPath(new URL('../../fixtures/notebook.ts', import.meta.url))
/** How long one client may take with everything. */
const LIMIT_MS = 180_000

export interface Row extends Measured {
  client: ClientDriver
  version: string
  /** Milliseconds. */
  took: number
}

export interface Survey extends AsyncDisposable {
  /** Installs the client where it is missing and measures it. Rejects where its process ends without a word. */
  measure(client: ClientDriver): Promise<Row>
}

/** One hub, with servers of others and ours behind it, that all clients are driven against. */
export async function openSurvey(): Promise<Survey> {
  await using opened = new AsyncDisposableStack()
  const rec = opened.use(recorder())
  const servers = {
    metrics: false,
    everything: npmServer('everything'),
    rec: rec.entry,
    notes: { command: process.execPath, args: [NOTEBOOK] },
  }
  const hub = opened.use(await startTestHub({ config: JSON.stringify({ servers }) }))
  await untilReady(hub, 'everything', 'rec', 'notes')
  const owned = opened.move()
  return {
    async measure(client) {
      if (client.installed) install(client.installed)
      const began = performance.now()
      const record = rec.entry.args.at(-1) ?? ''
      const args = [PROBE, '--client', labelOf(client), '--hub', hub.url, `--token=${hub.token}`]
      await using program = await startProgram(process.execPath, [...args, '--record', record])
      const [line] = await program.says(/^\{"cells.*\}$/m, LIMIT_MS)
      const measured = JSON.parse(line) as Measured
      const version = versionOf(client.of, client.installed)
      return { client, version, took: performance.now() - began, ...measured }
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
