import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ModelFinding } from '../../schemas/model-choice.ts'
import type { FoundProgram, KnownProgram, ProgramChoice } from '../../schemas/programs.ts'
import { builtIns, type LoadableBuiltIn } from '../config/built-ins.ts'
import type { ConfigChange, ConfigEditor } from '../config/config-editor.ts'
import { childEnvironment, serverEnvironment } from '../config/environment.ts'
import type { LiveConfig } from '../config/live-config.ts'
import { findEntry, readEntry } from '../config/server-entries.ts'
import { findDroppedIn } from '../config/server-folder.ts'
import type { Clock } from '../core/clock.ts'
import { HubError } from '../core/errors.ts'
import type { Principal } from '../core/principal.ts'
import { checkServer } from './check-server.ts'
import { type Found, findPrograms } from './find-programs.ts'
import { PROGRAMS, type Program } from './programs.ts'

interface Deps {
  config: Pick<LiveConfig, 'current'>
  editor: Omit<ConfigEditor, 'rewrite'>
  /** Names of this machine. */
  hosts: readonly string[]
  clock: Clock
}

type Variables = Readonly<Record<string, string | undefined>>

/** Creates what lists, finds, tries and connects the programs that the built-in servers look after. */
export function createProgramSettings({ config, editor, hosts, clock }: Deps) {
  /** Returns the variables that a program's server has now. */
  const variablesOf = ({ server, prefix }: Program): Variables => {
    const { servers, dataFolder } = config.current
    const entry = servers[server]
    return { ...serverEnvironment([`${prefix}_`], dataFolder), ...(entry ? entry.env : {}) }
  }
  return {
    list: (): KnownProgram[] =>
      PROGRAMS.map(program => {
        const { name, title, server, about, settings, isRepeatable } = program
        const connected = connectedOf(program, variablesOf(program)).map(toHost)
        return { program: name, title, server, about, settings: [...settings], isRepeatable, connected }
      }),

    /** Asks the usual ports of this machine, and the sockets of Docker and Podman. Never throws. */
    async find(): Promise<FoundProgram[]> {
      const programs = await findPrograms({ programs: PROGRAMS, hosts, clock })
      // One after the other: loading a server's code keeps this process from hearing answers in time.
      const engines = await findEngines()
      return [...programs, ...engines].map(({ program, address, version }) => ({
        program: program.name,
        title: program.title,
        address,
        ...(version === undefined ? {} : { version }),
        isConnected: connectedOf(program, variablesOf(program)).some(one => isSame(one, address)),
      }))
    },

    /** Asks the program as its server would. Throws `invalid_arguments` and `not_found` for a wrong choice. */
    async try(choice: ProgramChoice): Promise<ModelFinding[]> {
      const program = find(choice.program)
      const variables = toVariables(program, choice)
      const replaced = findReplaced(program, variables, variablesOf(program))
      return [...(await tryProgram(program, variables)), ...(replaced ? [replaced] : [])]
    },

    /** Writes the program's settings into its server's entry. Throws as the editor does, and as `try`. */
    async set(choice: ProgramChoice, by: Principal): Promise<{ file: string; server: string }> {
      const program = find(choice.program)
      const { server } = program
      const changes = toChanges(editor, join(config.current.dataFolder, 'servers'), program, choice)
      return { ...(await editor.change(changes, by)), server }
    },
  }
}

function find(name: string): Program {
  const program = PROGRAMS.find(one => one.name === name)
  if (program) return program
  const known = PROGRAMS.map(one => one.name).join(', ')
  throw new HubError('not_found', `There is no program ${name}; there is ${known}`)
}

function builtInOf({ server }: Program): LoadableBuiltIn {
  const builtIn = builtIns.find(({ name }) => name === server)
  if (!builtIn) throw new Error(`There is no built-in server ${server}`)
  return builtIn
}

/** Returns the variables that a choice sets; an optional one that is empty is undefined. */
function toVariables(program: Program, { settings, name }: ProgramChoice): Variables {
  const { title, prefix, isRepeatable, fixed } = program
  if (name !== undefined && !isRepeatable)
    throw new HubError('invalid_arguments', `${title}: there is one only, so it takes no name`)
  const unknown = Object.keys(settings).find(key => !program.settings.some(setting => setting.key === key))
  if (unknown !== undefined) throw new HubError('invalid_arguments', `${title} has no setting ${unknown}`)
  const stem = name === undefined ? prefix : `${prefix}_${name.toUpperCase().replaceAll('-', '_')}`
  const own = program.settings.map(({ key, label, isOptional }) => {
    const value = settings[key] || undefined
    if (value === undefined && !isOptional)
      throw new HubError('invalid_arguments', `${title} needs its ${key} (${label})`)
    if (value?.includes('${'))
      throw new HubError(
        'invalid_arguments',
        `${title}: ${label} has "\${", which begins a variable in superbloom.yaml: write it there by hand`,
      )
    return [`${stem}_${key}`, value] as const
  })
  return { ...Object.fromEntries(own), ...fixed }
}

/** Asks a program in a server that is started for that alone, with a data folder of its own. */
async function tryProgram(program: Program, variables: Variables): Promise<ModelFinding[]> {
  const builtIn = builtInOf(program)
  const folder = mkdtempSync(join(tmpdir(), 'superbloom-try-'))
  try {
    const set = Object.entries(variables).flatMap(([key, value]) =>
      value === undefined ? [] : [[key, value]],
    )
    const environment = {
      ...childEnvironment(builtIn.alsoSees),
      SUPERBLOOM_DATA: folder,
      ...Object.fromEntries(set),
    }
    const { upstreams, problem } = await checkServer(builtIn, environment)
    if (problem !== undefined) return [{ level: 'problem', what: `cannot be connected: ${problem}` }]
    const asked = upstreams.filter(({ kind }) => kind === program.kind)
    if (asked.length === 0)
      return [{ level: 'problem', what: `was not found: ${program.title} does not answer on this machine` }]
    return asked.map(({ ok, version, address, reason }) =>
      ok
        ? { level: 'ok', what: `answers at ${address}${version === undefined ? '' : `, version ${version}`}` }
        : { level: 'problem', what: `does not work yet: ${reason ?? 'it gave no reason'}` },
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Finds Docker and Podman, which are asked through their sockets. */
async function findEngines(): Promise<Found[]> {
  const program = find('docker')
  const builtIn = builtInOf(program)
  const { upstreams } = await checkServer(builtIn, {
    ...childEnvironment(builtIn.alsoSees?.filter(name => name !== 'SUPERBLOOM_DATA')),
    ...program.fixed,
  })
  return upstreams.flatMap(({ kind, ok, address, version = '' }) => {
    if (!ok || kind !== program.kind) return []
    // The engine says which of the two it is: "Podman 4.3.1".
    const [title = program.title, number] = version.split(' ')
    return [{ program: { ...program, title }, address, ...(number === undefined ? {} : { version: number }) }]
  })
}

/** Returns the addresses of what is configured of a program. */
function connectedOf({ prefix, fixed }: Program, variables: Variables): string[] {
  if (fixed) return Object.keys(fixed).flatMap(key => (variables[key] ? ['this machine'] : []))
  return Object.entries(variables).flatMap(([key, value]) =>
    value && key.startsWith(`${prefix}_`) && key.endsWith('_URL') ? [value] : [],
  )
}

/** Returns the host alone: the rest of an address may be secret. */
function toHost(address: string): string {
  return URL.parse(address.includes('://') ? address : `http://${address}`)?.host ?? address
}

function isSame(configured: string, found: string): boolean {
  const plain = (address: string) => toHost(address).replace(/^localhost(?=:|$)/, '127.0.0.1')
  return configured === 'this machine' || plain(configured) === plain(found)
}

/** Warns of a program that the choice takes the place of. */
function findReplaced(
  { title, isRepeatable }: Program,
  wanted: Variables,
  now: Variables,
): ModelFinding | undefined {
  const changed = Object.entries(wanted).find(
    ([key, value]) =>
      key.endsWith('_URL') && now[key] !== undefined && value !== undefined && !isSame(now[key], value),
  )
  if (!changed) return undefined
  const how = isRepeatable ? ': give this one a name to keep both' : ''
  return {
    level: 'warning',
    what: `takes the place of ${title} at ${toHost(now[changed[0]] ?? '')}${how}`,
  }
}

function toChanges(
  editor: Omit<ConfigEditor, 'rewrite'>,
  serversFolder: string,
  program: Program,
  choice: ProgramChoice,
): ConfigChange[] {
  const { server } = program
  const text = editor.read()
  const entry = readEntry(text, server)
  const isOther = (entry.kind === 'entry' && !entry.own) || findDroppedIn(serversFolder, server) !== undefined
  if (isOther)
    throw new HubError(
      'conflict',
      `A server of your own is called ${server}, in place of the one that comes with the hub: rename it first.`,
    )
  const { path } = findEntry(text, server)
  const isOff = entry.kind === 'entry' && entry.disabled
  return [
    ...(isOff ? [[[...path, 'disabled'], undefined] as const] : []),
    ...Object.entries(toVariables(program, choice)).map(
      ([key, value]) => [[...path, 'env', key], value] as const,
    ),
  ]
}
