import { join } from 'node:path'
import { builtIns } from '../config/built-ins.ts'
import { createEnvironment } from '../config/environment.ts'
import { locateConfig, locateData } from '../config/load.ts'
import { type AddOptions, readNewServers } from '../config/new-servers.ts'
import { describeWritten } from '../config/rewrite-config.ts'
import * as changes from '../config/server-changes.ts'
import { HubError } from '../core/errors.ts'
import { quoteForShell } from '../core/text.ts'
import { findRunning, type RunningHub } from './find-hub.ts'
import { print } from './print.ts'
import { describeServer, readHub, type ServerState, untilTaken } from './server-state.ts'

/** Files that configure servers, and the hub that reads them, if one runs. */
interface Places extends changes.ServerFiles {
  hub: RunningHub | undefined
}

/** Finds the files. A running hub may read another config file than this shell would. */
async function findPlaces(): Promise<Places> {
  const environment = createEnvironment()
  const hub = findRunning()
  const running = hub && (await readHub(hub)).hub.configFile
  return {
    hub,
    serversFolder: join(locateData(environment).dataFolder, 'servers'),
    configFile: running ?? locateConfig(environment),
    isBuiltIn,
    // Only the hub's own environment has the values that its config file names.
    check: () => undefined,
  }
}

/** Adds drop-in servers, and prints their states. Exit code 1 where one of them does not run. */
export async function addServers(
  name: string | undefined,
  command: readonly string[],
  options: AddOptions,
): Promise<void> {
  const added = readNewServers(name, command, options)
  const places = await findPlaces()
  for (const [own, file] of changes.addServers(places, added)) print(`Added ${own} in ${file}.`)
  for (const { name: own, notes } of added) {
    for (const note of notes) print(note)
    if (isBuiltIn(own)) print(`It runs in place of the built-in server ${own}; its removal brings that back.`)
  }
  for (const one of added) await tell(places, one.name, server => server?.origin === 'drop-in')
}

/** Removes a server from the config file, or moves its folder aside, where it is kept. */
export async function removeServer(name: string): Promise<void> {
  const places = await findPlaces()
  const removed = changes.removeServer(places, name)
  if (!removed) throw await unknown(name, places)
  if (removed.from === 'config') {
    print(`Removed ${name} in ${describeWritten(removed)}.`)
    const [backup = '', file] = [removed.backup, removed.file].map(path => path && quoteForShell(path))
    print(`To get it back before anything else changes: cp ${backup} ${file}`)
    return await tell(places, name, server => server?.origin !== 'config')
  }
  const { aside, found } = removed
  const back =
    found.kind === 'entry'
      ? `superbloom servers add ${name} --json ${quoteForShell(join(aside, 'mcp.json'))}`
      : `mv ${quoteForShell(aside)} ${quoteForShell(found.folder)}`
  print(`Removed ${name}; its folder is kept. To get it back: ${back}`)
  await tell(places, name, server => server?.origin !== 'drop-in')
}

/** Switches a server off, or on again, wherever it is configured. */
export async function switchServer(name: string, change: 'disable' | 'enable'): Promise<void> {
  const places = await findPlaces()
  const done = changes.switchServer(places, name, change)
  if (!done) throw await unknown(name, places)
  const isOff = change === 'disable'
  if (done === 'already') {
    print(`${name} is ${isOff ? 'switched off' : 'not switched off'} already.`)
    return
  }
  print(`${isOff ? 'Disabled' : 'Enabled'} ${name} in ${describeWritten(done)}.`)
  await tell(places, name, server => server !== undefined && (server.state === 'disabled') === isOff)
}

/** Prints how a running hub applied a change. */
async function tell(
  { hub }: Places,
  name: string,
  isTaken: (server: ServerState | undefined) => boolean,
): Promise<void> {
  if (!hub) return print(`No hub runs here; the next one that starts takes it.`)
  const server = await untilTaken(hub, name, isTaken)
  print(server ? describeServer(server) : `${name}: not there any more`)
  if (server?.state === 'down' || server?.state === 'not_running') process.exitCode = 1
}

async function unknown(name: string, { hub }: Places): Promise<HubError> {
  const names = hub ? (await readHub(hub)).servers.map(server => server.name) : []
  const there = names.length > 0 ? `; there is ${[...new Set(names)].join(', ')}` : ''
  return new HubError('not_found', `There is no server ${name}${there}.`)
}

function isBuiltIn(name: string): boolean {
  return builtIns.some(one => one.name === name)
}
