import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { launcher } from '../../support/cli.ts'
import { clients, labelOf } from './clients.ts'
import { type Cell, measure, PROBES } from './features.ts'
import type { ClientDriver, OpenClient, Place } from './open-client.ts'
import { openWire, type Wire } from './wire.ts'

/*
 * Drives one client against a running hub and prints the result: each client has its own process, so that
 * none can disturb another.
 */

/** The JSON in the last line of a client's process. */
export interface Measured {
  cells: Record<string, Cell>
  /** The negotiated protocol version; undefined if the client did not get so far. */
  era?: string | undefined
}

const text = { type: 'string' } as const
const { values } = parseArgs({ options: { client: text, hub: text, token: text, record: text } })

async function probe(driver: ClientDriver, hub: string, token: string): Promise<Measured> {
  await using opened = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'superbloom-client-'))
  opened.defer(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }))
  const wire = opened.use(await openWire(hub))
  const name = `of-${labelOf(driver)}`
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/-$/, '')
  const place = { url: `${wire.url}/mcp`, token, folder, bridge: bridgeTo(wire, { token, name, folder }) }
  const cells: Measured['cells'] = {}
  try {
    await using client = await driver.open(place)
    await measureAll(driver, { client, place, wire }, cells)
  } catch (error) {
    cells['connects'] = { kind: 'fails', why: error instanceof Error ? error.message : String(error) }
  }
  return { cells, era: wire.era }
}

async function measureAll(
  driver: ClientDriver,
  { client, place, wire }: { client: OpenClient; place: Place; wire: Wire },
  cells: Measured['cells'],
): Promise<void> {
  const mark = labelOf(driver).replaceAll(/[^A-Za-z0-9]+/g, '-')
  const around = {
    wire,
    mark,
    recordFile: values.record ?? '',
    openLean: () => driver.open({ ...place, url: `${place.url}?tools=lean`, bridge: undefined }),
  }
  for (const [name, feature] of Object.entries(PROBES)) {
    cells[name] = await measure(feature, client, around)
  }
  const began = wire.asked.has('initialize') || wire.asked.has('server/discover')
  cells['connects'] = began && wire.era ? { kind: 'works' } : { kind: 'fails', why: 'It never began' }
}

/**
 * Returns how to start `superbloom mcp`. It finds the hub by a data folder, and this folder leads to the wire
 * in front of the hub. A client of each name has a token of its own.
 */
function bridgeTo(wire: Wire, { token, name, folder }: { token: string; name: string; folder: string }) {
  const data = join(folder, 'data')
  mkdirSync(data, { mode: 0o700 })
  writeFileSync(join(data, 'hub.json'), JSON.stringify({ pid: process.pid, url: wire.url, startedAt: 0 }))
  writeFileSync(join(data, 'token'), token, { mode: 0o600 })
  const env = { PATH: String(process.env['PATH']), HOME: folder, SUPERBLOOM_DATA: data }
  return { command: process.execPath, args: [launcher, 'mcp', '--as', name], env }
}

const driver = clients.find(one => labelOf(one) === values.client)
if (!driver || !values.hub || !values.token)
  throw new Error('probe.ts --client NAME --hub URL --token TOKEN --record FILE')
const measured = await probe(driver, values.hub, values.token)
process.stdout.write(`${JSON.stringify(measured)}\n`, () => process.exit())
