import { existsSync, statSync } from 'node:fs'
import type { Command } from 'commander'
import type { UpstreamHealth } from '../../../schemas/health.ts'
import { type HubStatus, hubStatus } from '../../../schemas/hub-status.ts'
import type { ModelFinding } from '../../../schemas/model-choice.ts'
import { readAgentFiles } from '../../config/agent-files.ts'
import { type Certificate, describeEnd } from '../../config/certificate.ts'
import { findDataProblem } from '../../config/data-folder.ts'
import { createEnvironment, type Environment } from '../../config/environment.ts'
import { type Config, loadConfig } from '../../config/load.ts'
import { tokenFile } from '../../config/token.ts'
import { systemClock, toLocal } from '../../core/clock.ts'
import { describeUncontained } from '../../core/describe-uncontained.ts'
import { describeError, HubError } from '../../core/errors.ts'
import { toLine } from '../../core/text.ts'
import { describeHeld, describeUpstream } from '../../mcp/hub-tools/status.ts'
import { toShownUrl } from '../../model/ask-json.ts'
import { tryEntry } from '../../model/try-entry.ts'
import { describePlace, openStoreToRead } from '../../store/open.ts'
import { describeLoss, findLoss, wasUsed } from '../../store/store-loss.ts'
import { StoreFault } from '../../store/writer.ts'
import { callHub } from '../call-hub.ts'
import { checkServers } from '../check-servers.ts'
import { listConfigured, type NamedModel } from '../configured-models.ts'
import { findHub, type RunningHub } from '../find-hub.ts'
import { type AgentRequest, readAgentRequest } from '../model-trial.ts'
import { ok, print, printFindings, problem, warning } from '../print.ts'

/** States of a server that need no mending. */
const WANTED: ReadonlySet<string> = new Set(['ready', 'disabled', 'replaced'])

export function define(command: Command): void {
  command.action(doctor)
}

/** Checks everything that it can and prints one line each. Exit code 1 where something is broken. */
async function doctor(): Promise<void> {
  const findings = await examine(createEnvironment())
  printFindings(findings)
  const broken = findings.filter(({ level }) => level === 'problem').length
  print(broken === 0 ? 'All is well.' : `${broken} to mend.`)
  if (broken > 0) process.exitCode = 1
}

/** Returns the findings in the order: config, agents, data folder, model, hub, servers. */
export async function examine(environment: Environment): Promise<ModelFinding[]> {
  let config: Config
  try {
    config = loadConfig(environment)
  } catch (error) {
    if (!(error instanceof HubError)) throw error
    return [problem(`config: ${error.message}`)]
  }
  return [
    ok(`config: ${config.configFile ?? 'none, defaults and environment'}`),
    ...config.warnings.map(what => warning(`config: ${what}`)),
    ...checkZone(config, environment),
    ...checkCertificate(config, systemClock.now()),
    ...checkAgents(config, environment),
    ...checkData(config),
    ...(await checkStore(config)),
    ...describeHooks(config),
    ...(await checkModels(config, environment)),
    ...(await checkHub(config)),
  ]
}

/** Milliseconds before its end in which a certificate should have been renewed: those who renew do it a month before. */
const RENEWED_BEFORE_MS = 14 * 86_400_000

/** Warns of a certificate that ends soon. */
export function checkCertificate(
  { tls, timezone }: { tls: Pick<Certificate, 'files' | 'expiresAt'> | undefined; timezone: string },
  now: number,
): ModelFinding[] {
  if (!tls) return []
  const at = toLocal(tls.expiresAt, timezone)
  if (tls.expiresAt <= now) return [problem(describeEnd(tls, timezone))]
  const isLate = tls.expiresAt - now < RENEWED_BEFORE_MS
  const text = `https: the certificate ${tls.files[0]} holds until ${at}`
  return [isLate ? warning(`${text}: see why it was not renewed`) : ok(text)]
}

/** Warns of a clock in UTC that nobody asked for, as in a container that is not told where it stands. */
export function checkZone(
  { timezone, origins }: Pick<Config, 'timezone' | 'origins'>,
  environment: Environment,
): ModelFinding[] {
  // A key without a default has an origin only where the file has it.
  const isAsked = origins['timezone'] !== undefined || environment('TZ') !== undefined
  if (isAsked || timezone !== 'UTC') return []
  const how = 'set timezone in superbloom.yaml, such as Europe/Berlin, or TZ; TZ=UTC if it is right'
  return [warning(`timezone: times are in UTC, since nothing says where this is: ${how}`)]
}

function checkAgents(config: Config, environment: Environment): ModelFinding[] {
  if (!existsSync(config.agentsFolder)) {
    return [ok(`agents: ${config.agentsFolder} is made at the first start`)]
  }
  const { agents, problems } = readAgentFiles(config.agentsFolder, environment, config.model)
  const none: ModelFinding = problem(
    `agents: ${config.agentsFolder} has no agent: write <name>.md there, or remove the folder to get the default one`,
  )
  return [
    ...(agents.length > 0 ? [ok(`agents: ${agents.map(({ name }) => name).join(', ')}`)] : [none]),
    ...problems.map(({ message }) => problem(`agents: ${message}`)),
  ]
}

/** Checks, as a hub does at its start, whether the store can be used, and whether it lost its contents. */
async function checkStore({ dataFolder, store: url }: Config): Promise<ModelFinding[]> {
  const where = `store: ${describePlace({ folder: dataFolder, url })}`
  if (url === undefined) {
    const loss = existsSync(dataFolder) ? findLoss(dataFolder, wasUsed(dataFolder)) : undefined
    return [loss ? problem(`store: ${describeLoss(dataFolder, loss)}`) : ok(where)]
  }
  try {
    await using stack = new AsyncDisposableStack()
    stack.adopt(await openStoreToRead({ folder: dataFolder, url }), db => db.destroy())
    return [ok(where)]
  } catch (error) {
    if (!(error instanceof HubError)) throw error
    // The first start makes a store, and one after an update renews it.
    return [(error instanceof StoreFault ? problem : warning)(`store: ${error.message}`)]
  }
}

function checkData(config: Config): ModelFinding[] {
  const why = findDataProblem(config.dataFolder)
  if (why !== undefined) return [problem(`data: ${why}`)]
  const token = tokenFile(config.dataFolder)
  if (!existsSync(token) || process.platform === 'win32') return []
  const open = (statSync(token).mode & 0o077) !== 0
  return open
    ? [problem(`doors: others can read ${token}: run chmod 600 on it`)]
    : [ok(`doors: the token in ${token} is its owner's alone`)]
}

function describeHooks({ webhooks }: Config): ModelFinding[] {
  const names = Object.entries(webhooks).map(
    ([name, { secret }]) => `/hooks/${name} takes ${secret === undefined ? 'the token' : 'its own secret'}`,
  )
  return names.length > 0 ? [ok(`webhooks: ${names.join(', ')}`)] : []
}

/** Tries each configured model in turn with the request that an agent would send. */
async function checkModels(config: Config, environment: Environment): Promise<ModelFinding[]> {
  // The compaction model needs no tools.
  const configured = listConfigured(config.model).filter(({ name }) => name !== 'compaction')
  if (configured.length === 0) {
    const how = '"superbloom models" shows what answers on this machine, and how to connect it'
    return [ok(`model: the built-in commands, no language model; ${how}`)]
  }
  try {
    const request = await readAgentRequest(config, environment)
    const findings: ModelFinding[] = []
    for (const one of configured) findings.push(...(await checkModel(one, request)))
    return findings
  } catch (error) {
    if (!(error instanceof HubError)) throw error
    return [problem(`model: ${error.message}`)]
  }
}

async function checkModel({ name, entry }: NamedModel, request: AgentRequest): Promise<ModelFinding[]> {
  const found = (await tryEntry(entry, request)).filter(({ level }) => level !== 'ok')
  const where = `model ${name}: ${entry.model} at ${toShownUrl(entry.baseUrl)}`
  if (found.length > 0) return found.map(({ level, what }) => ({ level, what: toLine(`${where}: ${what}`) }))
  return [ok(`${where} answers and calls tools (${request.tools.length} were offered)`)]
}

async function checkHub(config: Config): Promise<ModelFinding[]> {
  let hub: RunningHub
  try {
    hub = findHub(config)
  } catch (error) {
    if (!(error instanceof HubError)) throw error
    return [warning(`hub: ${error.message}`), ...(await checkWithoutHub(config))]
  }
  try {
    const state = hubStatus.parse((await callHub(hub, 'hub_status', { health: true })).structured)
    return [
      ok(`hub: ${state.hub.version} answers at ${hub.url}`),
      ...(state.held ? [problem(`agents: ${describeHeld(state.held)}`)] : []),
      ...state.servers.flatMap(toFindings),
      ...describeUncontained(state.servers).map(warning),
      ...state.problems.map(problem),
    ]
  } catch (error) {
    return [problem(`hub: ${error instanceof HubError ? error.message : describeError(error)}`)]
  }
}

/** Checks the built-in servers while no hub runs them. */
async function checkWithoutHub(config: Config): Promise<ModelFinding[]> {
  const checked = await checkServers(config)
  return checked.flatMap(({ name, upstreams, problem: why }): ModelFinding[] => [
    ...(why === undefined ? [] : [problem(`server ${name}: ${why}`)]),
    ...toUpstreamFindings(name, upstreams),
  ])
}

function toUpstreamFindings(server: string, upstreams: readonly UpstreamHealth[]): ModelFinding[] {
  return upstreams.map(upstream =>
    (upstream.ok ? ok : problem)(`server ${server}: ${describeUpstream(upstream)}`),
  )
}

function toFindings(server: HubStatus['servers'][number]): ModelFinding[] {
  const { name, state, tools, error, collisions = [], leftOut = [], upstreams = [] } = server
  const isFine = WANTED.has(state) || (state === 'starting' && error === undefined)
  const what = error ? `${state}: ${error}` : `${state}, ${tools} tools`
  return [
    (isFine ? ok : state === 'degraded' ? warning : problem)(`server ${name}: ${what}`),
    ...leftOut.map(entry => warning(`server ${name}: left out: ${toLine(entry)}`)),
    ...collisions.map(collision => warning(`server ${name}: ${collision}; give it a prefix of its own`)),
    ...toUpstreamFindings(name, upstreams),
  ]
}
