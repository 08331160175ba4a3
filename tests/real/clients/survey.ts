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
/** Milliseconds for all measurements of one client. */
const LIMIT_MS = 180_000

export interface Row extends Measured {
  client: ClientDriver
  version: string
  /** Milliseconds. */
  took: number
}

export interface Survey extends AsyncDisposable {
  /** Installs the client if it is missing and measures it. Rejects if its process ends without a result. */
  measure(client: ClientDriver): Promise<Row>
}

/** Opens the one hub, with servers of ours and others, that all clients use. */
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
