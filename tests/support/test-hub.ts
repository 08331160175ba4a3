import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createEnvironment } from '../../hub/config/environment.ts'
import { loadConfig } from '../../hub/config/load.ts'
import { systemClock } from '../../hub/core/clock.ts'
import { createLog } from '../../hub/core/log.ts'
import { type Hub, type HubOverrides, startHub } from '../../hub/hub.ts'
import type { StoredAt } from './read-rows.ts'
import { makeDatabase, server, type TestDatabase } from './test-database.ts'
import { createRecord } from './until.ts'

/** An agent that only messages wake. */
const QUIET_AGENT = '---\ndescription: Looks after the homelab\n---\n\nYou look after the homelab.\n'

export interface TestHubOptions {
  /**
   * The content of `superbloom.yaml`. The default has no server, which starts fastest; '' has the metrics
   * server.
   */
  config?: string
  /** Agent files by name without `.md`; the default is one quiet `homelab`. */
  agents?: Record<string, string>
  /** Files below the data folder by path, written before the start: `servers/x/mcp.json`. */
  data?: Record<string, string>
  /** Environment variables besides those for the folders and the port. */
  variables?: Record<string, string>
  /** Replacements of the real clock, randomness or model. */
  overrides?: HubOverrides
}

export type LogEntry = { level: string; event: string } & Record<string, unknown>

/**
 * The real hub in this process, on a free port, in its own folders outside the repository. Disposing stops it
 * and removes the folders.
 */
export class TestHub implements AsyncDisposable {
  readonly folder: string
  readonly dataFolder: string
  readonly agentsFolder: string
  readonly configFile: string
  /** Its log entries from `debug` on, over all its starts. */
  readonly logs = createRecord<LogEntry>()
  /** The index in `logs` at which its last start begins. */
  startedFrom = 0
  readonly #options: TestHubOptions
  #hub: Hub | undefined
  /** Its store, where the tests have a server for it. */
  #database: TestDatabase | undefined

  constructor(options: TestHubOptions) {
    this.folder = mkdtempSync(join(tmpdir(), 'superbloom-test-'))
    this.dataFolder = join(this.folder, 'data')
    this.agentsFolder = join(this.folder, 'agents')
    this.configFile = join(this.folder, 'superbloom.yaml')
    this.#options = options
    this.writeConfig(options.config ?? 'servers: { metrics: false }\n')
    mkdirSync(this.agentsFolder)
    for (const [name, text] of Object.entries(options.agents ?? { homelab: QUIET_AGENT })) {
      this.writeAgent(name, text)
    }
    mkdirSync(this.dataFolder, { mode: 0o700 })
    for (const [path, text] of Object.entries(options.data ?? {})) this.writeData(path, text)
  }

  get url(): string {
    return this.#running.url
  }

  get token(): string {
    return this.#running.token
  }

  makeLinkToken(): Promise<string> {
    return this.#running.makeLinkToken()
  }

  get #running(): Hub {
    if (!this.#hub) throw new Error('The hub is stopped')
    return this.#hub
  }

  /** Environment variables by which another process finds this hub. */
  get variables(): Record<string, string> {
    return {
      SUPERBLOOM_CONFIG: this.configFile,
      SUPERBLOOM_DATA: this.dataFolder,
      SUPERBLOOM_AGENTS: this.agentsFolder,
      ...(this.#database ? { SUPERBLOOM_STORE: this.#database.url } : {}),
      ...this.#options.variables,
    }
  }

  get stored(): StoredAt {
    return { dataFolder: this.dataFolder, url: this.#database?.url }
  }

  /** Starts it again on the same folders after `stop`, on another port. */
  async start(): Promise<void> {
    if (server !== undefined) this.#database ??= await makeDatabase(server)
    const environment = createEnvironment({ SUPERBLOOM_PORT: '0', LOG_LEVEL: 'debug', ...this.variables })
    const log = createLog({
      level: 'debug',
      now: systemClock.now,
      write: line => this.logs.add(JSON.parse(line) as LogEntry),
    })
    const { overrides } = this.#options
    this.startedFrom = this.logs.all.length
    const config = loadConfig(environment)
    this.#hub = await startHub({ config, environment, log, ...(overrides ? { overrides } : {}) })
  }

  /** Stops it cleanly; the folders stay. */
  async stop(): Promise<void> {
    const hub = this.#hub
    this.#hub = undefined
    await hub?.[Symbol.asyncDispose]()
  }

  writeConfig(text: string): void {
    writeFileSync(this.configFile, text)
  }

  writeAgent(name: string, text: string): void {
    writeFileSync(join(this.agentsFolder, `${name}.md`), text)
  }

  removeAgent(name: string): void {
    rmSync(join(this.agentsFolder, `${name}.md`))
  }

  /** Writes a file below the data folder, and creates its folders; returns its path. */
  writeData(path: string, text: string): string {
    const file = join(this.dataFolder, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    return file
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    await this.#database?.[Symbol.asyncDispose]()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** Starts a hub; it listens when this resolves. */
export async function startTestHub(options: TestHubOptions = {}): Promise<TestHub> {
  const hub = new TestHub(options)
  try {
    await hub.start()
    return hub
  } catch (error) {
    await hub[Symbol.asyncDispose]()
    throw error
  }
}
