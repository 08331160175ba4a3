import { existsSync, readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { type ConfigFile, configFile, type ServerEntry } from '../../schemas/config.ts'
import { systemTimezone } from '../core/clock.ts'
import { describeError, HubError } from '../core/errors.ts'
import type { LogLevel } from '../core/log.ts'
import { isLoopback } from '../core/loopback.ts'
import type { ModelsConfig } from '../core/model.ts'
import { type Certificate, readCertificate, type Served } from './certificate.ts'
import { decideConfigured, isPasted, splitKeys, withoutSettings } from './configured-servers.ts'
import type { Environment } from './environment.ts'
import { decideModels } from './models.ts'
import { holdEntries } from './pasted-servers.ts'
import {
  toCrashHold,
  toHost,
  toLogLevel,
  toPort,
  toPublicUrl,
  toStoreUrl,
  toToken,
} from './variable-values.ts'
import { keysWritten, parseYaml } from './yaml-file.ts'

/** Keys of the file whose values are decided together with the environment, or checked once more. */
type Decided = 'model' | 'timezone' | 'servers' | 'mcpServers' | 'inputs' | 'tls'

/** The hub's whole configuration: the other keys of the file are in it as they are. Paths are absolute. */
export interface Config extends Readonly<Omit<ConfigFile, Decided>> {
  readonly configFile: string | undefined
  readonly dataFolder: string
  readonly agentsFolder: string
  /** Address of the PostgreSQL database that holds the store; undefined where the data folder does. */
  readonly store: string | undefined
  readonly host: string
  readonly port: number
  readonly publicUrl: string | undefined
  readonly token: string | undefined
  readonly logLevel: LogLevel
  /** The certificate of https; undefined for http. */
  readonly tls: Certificate | undefined
  readonly timezone: string
  /** Undefined where the built-in commands answer. */
  readonly model: ModelsConfig | undefined
  /** True where agents are held after a crash loop. */
  readonly crashHold: boolean
  readonly servers: Readonly<Record<string, ServerEntry | false>>
  /** Reasons why entries cannot be used, by server name: those servers do not run, and harm no other. */
  readonly heldServers: Readonly<Record<string, string>>
  /** Names in the file by server name, where the file writes them differently. */
  readonly writtenNames: Readonly<Record<string, string>>
  /** Settings that are allowed but look like mistakes. */
  readonly warnings: readonly string[]
  /** Source of each value, by key. */
  readonly origins: Readonly<Record<string, string>>
}

const DEFAULT_PORT = 8420

/** Returns where the store of a hub is. */
export function locateStore(environment: Environment): { folder: string; url: string | undefined } {
  return { folder: locateDataFolder(environment), url: toStoreUrl(environment('SUPERBLOOM_STORE')) }
}

/** Returns the data folder and its hub's token, which a command needs to talk to a running hub. */
export function locateData(environment: Environment): Pick<Config, 'dataFolder' | 'token'> {
  return {
    dataFolder: locateDataFolder(environment),
    token: environment('SUPERBLOOM_TOKEN'),
  }
}

export function locateDataFolder(environment: Environment): string {
  return resolve(environment('SUPERBLOOM_DATA') ?? 'data')
}

/** Returns the path of the config file, which may not exist. */
export function locateConfig(environment: Environment): string {
  return resolve(environment('SUPERBLOOM_CONFIG') ?? 'superbloom.yaml')
}

/**
 * Reads the environment and the config file; `draft` is a text in place of the file's. Throws `bad_request` that
 * names what is wrong and where. `served` is the certificate in force, which stays while its files are wrong.
 */
export function loadConfig(environment: Environment, draft?: string, served?: Served): Config {
  const origins: Record<string, string> = {}
  const read = (key: string, name: string, fallback: string): string => {
    const value = environment(name)
    origins[key] = value === undefined ? 'default' : name
    return value ?? fallback
  }
  const path = draft === undefined ? findConfigFile(environment) : locateConfig(environment)
  const { file, written, warnings, held } = readConfigFile(path, environment, draft)
  for (const key of Object.keys(file)) origins[key] = 'default'
  for (const key of written) origins[key === 'mcpServers' ? 'servers' : key] = path ?? 'default'
  const model = decideModels(file.model, environment, path)
  origins['model'] = model.origin
  const publicUrl = toPublicUrl(environment('SUPERBLOOM_PUBLIC_URL'))
  if (file.authorization) checkPublicUrl(publicUrl)
  const servers = decideConfigured(file, path, held)
  const { timezone, model: _, servers: __, mcpServers: ___, inputs: ____, tls, ...settings } = file
  const token = toToken('SUPERBLOOM_TOKEN', environment('SUPERBLOOM_TOKEN'))
  const https = tls && path ? readCertificate(path, tls, served) : undefined
  return Object.freeze<Config>({
    ...settings,
    configFile: path,
    dataFolder: resolve(read('dataFolder', 'SUPERBLOOM_DATA', 'data')),
    store: toStoreUrl(environment('SUPERBLOOM_STORE')),
    agentsFolder: resolve(read('agentsFolder', 'SUPERBLOOM_AGENTS', 'agents')),
    host: toHost(read('host', 'SUPERBLOOM_HOST', '127.0.0.1')),
    port: toPort(read('port', 'SUPERBLOOM_PORT', String(DEFAULT_PORT))),
    publicUrl,
    token,
    logLevel: toLogLevel(read('logLevel', 'LOG_LEVEL', 'info')),
    tls: https?.certificate,
    // The getter defers loading eight megabytes of ICU's tables until something needs the zone.
    get timezone() {
      return timezone ?? systemTimezone()
    },
    model: model.models,
    crashHold: toCrashHold(read('crashHold', 'SUPERBLOOM_CRASH_HOLD', '1')),
    servers: servers.entries,
    heldServers: servers.held,
    writtenNames: servers.writtenNames,
    warnings: [
      ...model.warnings,
      ...warnings,
      ...servers.warnings,
      ...(https?.warnings ?? []),
      ...findGivenAway(servers.entries, token).map(
        name =>
          `${path}: servers.${name}: is given the owner's token, which opens everything; give it one of its own`,
      ),
    ],
    origins,
  })
}

/** Throws unless clients can sign in with OAuth at this address, or at the one that the hub listens on. */
function checkPublicUrl(publicUrl = 'http://localhost'): void {
  const { protocol, hostname, pathname } = new URL(publicUrl)
  const isSafe = protocol === 'https:' || isLoopback(hostname)
  if (isSafe && pathname === '/') return
  throw new HubError(
    'bad_request',
    `SUPERBLOOM_PUBLIC_URL: authorization in superbloom.yaml needs an address like https://hub.example.org, without a path, not ${publicUrl}`,
  )
}

/** Returns the names of servers whose entries contain the owner's token. */
function findGivenAway(entries: Config['servers'], token: string | undefined): string[] {
  if (token === undefined) return []
  return Object.keys(entries).filter(name => JSON.stringify(entries[name]).includes(token))
}

function findConfigFile(environment: Environment): string | undefined {
  const named = environment('SUPERBLOOM_CONFIG')
  const path = locateConfig(environment)
  if (existsSync(path)) return path
  if (named)
    throw new HubError(
      'bad_request',
      `SUPERBLOOM_CONFIG: there is no file ${path}; make an empty one there, or leave the variable out`,
    )
  return undefined
}

/**
 * Reads the file and fills in its defaults. `written` are the keys that the file has, `warnings` tell of keys
 * of other programs and of an empty file, and `held` tells by written names why servers' entries cannot be used.
 */
function readConfigFile(path: string | undefined, environment: Environment, draft?: string) {
  const held = new Map<string, string>()
  const warnings: string[] = []
  if (path === undefined) return { file: configFile.parse({}), written: [], warnings, held }
  const text = draft ?? readText(path)
  // An empty config refuses nothing: it allows what the one from before may have denied.
  const backup = `${path}.bak`
  if (text.trim() === '' && statSync(backup, { throwIfNoEntry: false })?.size)
    warnings.push(
      `${path}: is empty, and ${backup} is not: what it said is not in force; copy it back, or remove the copy`,
    )
  const file = parseYaml({ file: path, text }, configFile, {
    environment,
    prepare: (whole, absent) => {
      const { value, missing } = withoutSettings(whole, absent)
      const { ours, foreign } = splitKeys(text, value)
      warnings.push(...foreign.map(key => `${path}: ${key}: not a key that the hub knows; ignored`))
      return holdEntries(held, isPasted(text, value))(
        ours,
        missing.filter(({ path }) => !foreign.includes(String(path[0]))),
      )
    },
  })
  const written = keysWritten(text).filter(key => Object.hasOwn(configFile.shape, key))
  return { file, written, warnings, held }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new HubError('bad_request', `${path}: cannot be read: ${describeError(error)}`, { cause: error })
  }
}
