import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { builtIns } from '../config/built-ins.ts'
import { createEnvironment } from '../config/environment.ts'
import { locateConfig, locateData } from '../config/load.ts'
import { changeEntry, type EntryChange, readEntry } from '../config/server-entries.ts'
import { HubError } from '../core/errors.ts'
import { findRunning, type RunningHub } from './find-hub.ts'
import { type AddOptions, readNewServers } from './new-servers.ts'
import { print, quote } from './print.ts'
import { rewriteConfig } from './rewrite-config.ts'
import { findDroppedIn, putAside, setDisabled, writeEntry } from './server-folder.ts'
import { describeServer, readHub, type ServerState, untilTaken } from './server-state.ts'

/** Files that configure servers, and the hub that reads them, if one runs. */
interface Places {
  hub: RunningHub | undefined
  servers: string
  configFile: string
  config: string
}

/** Finds the files. A running hub may read another config file than this shell would. */
async function findPlaces(): Promise<Places> {
  const environment = createEnvironment()
  const hub = findRunning()
  const running = hub && (await readHub(hub)).hub.configFile
  const configFile = running ?? locateConfig(environment)
  return {
    hub,
    servers: join(locateData(environment).dataFolder, 'servers'),
    configFile,
    config: existsSync(configFile) ? readFileSync(configFile, 'utf8') : '',
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
  for (const one of added) checkFree(one.name, places)
  for (const one of added) print(`Added ${one.name} in ${writeEntry(places.servers, one.name, one.entry)}.`)
  for (const { name: own, notes } of added) {
    for (const note of notes) print(note)
    if (isBuiltIn(own)) print(`It runs in place of the built-in server ${own}; its removal brings that back.`)
  }
  for (const one of added) await tell(places, one.name, server => server?.origin === 'drop-in')
}

function checkFree(name: string, { servers, configFile, config }: Places): void {
  const there = findDroppedIn(servers, name)
  if (there) {
    const how = `superbloom servers remove ${name} takes it away first`
    throw new HubError('conflict', `There is a dropped-in server ${name} in ${there.folder}: ${how}.`)
  }
  if (readEntry(config, name).kind === 'none') return
  throw new HubError(
    'conflict',
    `${configFile} says something of a server ${name}, and it wins over a dropped-in one: take another name, or change it there.`,
  )
}

/** Removes a server from the config file, or moves its folder aside, where it is kept. */
export async function removeServer(name: string): Promise<void> {
  const places = await findPlaces()
  const entry = readEntry(places.config, name)
  const isOwn = entry.kind === 'off' || (entry.kind === 'entry' && entry.own)
  // An entry that only sets how a built-in server runs is no server of its own.
  if (entry.kind !== 'none' && !(isOwn && isBuiltIn(name))) {
    rewrite(places, name, 'remove')
    return await tell(places, name, server => server?.origin !== 'config')
  }
  const found = findDroppedIn(places.servers, name)
  if (!found) {
    if (!isBuiltIn(name)) throw await unknown(name, places)
    const how = `superbloom servers disable ${name} switches it off`
    throw new HubError('invalid_arguments', `${name} comes with the hub and cannot be removed: ${how}.`)
  }
  const aside = putAside(places.servers, name)
  const back =
    found.kind === 'entry'
      ? `superbloom servers add ${name} --json ${quote(join(aside, 'mcp.json'))}`
      : `mv ${quote(aside)} ${quote(found.folder)}`
  print(`Removed ${name}; its folder is kept. To get it back: ${back}`)
  await tell(places, name, server => server?.origin !== 'drop-in')
}

/** Switches a server off, or on again, wherever it is configured. */
export async function switchServer(name: string, change: 'disable' | 'enable'): Promise<void> {
  const places = await findPlaces()
  const entry = readEntry(places.config, name)
  const found = entry.kind === 'none' ? findDroppedIn(places.servers, name) : undefined
  if (entry.kind === 'none' && !found && !isBuiltIn(name)) throw await unknown(name, places)
  const isOff = entry.kind === 'off' || (entry.kind === 'entry' && entry.disabled) || found?.disabled === true
  if (isOff === (change === 'disable')) {
    print(`${name} is ${isOff ? 'switched off' : 'not switched off'} already.`)
    return
  }
  if (found) {
    setDisabled(places.servers, name, found, change === 'disable')
    print(`${change === 'disable' ? 'Disabled' : 'Enabled'} ${name} in ${found.folder}.`)
  } else if (entry.kind === 'off' && !isBuiltIn(name)) {
    // Removing the entry lets a dropped-in server of this name run again.
    rewrite(places, name, 'remove')
  } else rewrite(places, name, change)
  await tell(
    places,
    name,
    server => server !== undefined && (server.state === 'disabled') === (change === 'disable'),
  )
}

const DONE: Record<EntryChange, string> = { disable: 'Disabled', enable: 'Enabled', remove: 'Removed' }

/** Changes an entry of the config file. */
function rewrite({ configFile, config }: Places, name: string, change: EntryChange): void {
  const text = changeEntry({ file: configFile, text: config }, name, change)
  print(`${DONE[change]} ${name} in ${rewriteConfig(configFile, text)}.`)
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
