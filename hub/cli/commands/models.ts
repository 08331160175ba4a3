import type { Command } from 'commander'
import { hubStatus } from '../../../schemas/hub-status.ts'
import { createEnvironment } from '../../config/environment.ts'
import { type Config, loadConfig } from '../../config/load.ts'
import { systemClock } from '../../core/clock.ts'
import { HubError } from '../../core/errors.ts'
import type { ModelConfig } from '../../core/model.ts'
import { plural, toLine } from '../../core/text.ts'
import { toShownUrl } from '../../model/ask-json.ts'
import { describeServers, describeVariables, type FoundModels, findModels } from '../../model/find-models.ts'
import { type LookedUpModel, lookUp, type Sizes } from '../../model/sizes.ts'
import { tryEntry } from '../../model/try-entry.ts'
import { callHub } from '../call-hub.ts'
import { chooseModel, listConfigured, type NamedModel } from '../configured-models.ts'
import { findHub } from '../find-hub.ts'
import { type AgentRequest, readAgentRequest } from '../model-trial.ts'
import { print, printError, printFindings, printJson } from '../print.ts'

export function define(command: Command): void {
  command.option('--json', 'as JSON').action(listModels)
  command
    .command('try')
    .description('try a model with the prompt and all tools of the default agent')
    .argument(
      '[name]',
      'of the config, or of a model; default the configured one, else the first that answers',
    )
    .option('--json', 'as JSON')
    .action(tryConfigured)
}

/** Prints this machine's model servers, the keys that are set, and the configured models with sizes. */
async function listModels(options: { json?: boolean }): Promise<void> {
  const environment = createEnvironment()
  const config = loadConfig(environment)
  const [found, configured, learned] = await Promise.all([
    find(environment),
    Promise.all(
      listConfigured(config.model).map(async one => ({
        ...one,
        ...(await lookUp({ ...one.entry, clock: systemClock })),
      })),
    ),
    readLearned(config),
  ])
  const shown = configured.map(({ name, entry, sizes, server, why }) => {
    return { name, model: entry.model, baseUrl: toShownUrl(entry.baseUrl), server, ...sizes, why }
  })
  if (options.json) printJson({ ...found, configured: shown, learned })
  else print(describeModels(found, configured, learned))
}

/** Tries one model with the default agent's request; exit code 1 where it cannot be used. */
async function tryConfigured(wanted: string | undefined, options: { json?: boolean }): Promise<void> {
  const environment = createEnvironment()
  const config = loadConfig(environment)
  const entry = await choose(wanted, config, environment)
  const request = await readAgentRequest(config, environment)
  if (!options.json) printError(describeRequest(entry, request))
  const findings = await tryEntry(entry, request)
  const works = findings.every(({ level }) => level !== 'problem')
  if (options.json) {
    const { model, baseUrl } = entry
    const { agent, tools, without } = request
    printJson({ model, baseUrl: toShownUrl(baseUrl), agent, tools: tools.length, without, works, findings })
  } else {
    printFindings(findings.map(({ level, what }) => ({ level, what: toLine(what) })))
    print(works ? 'Agents can use it.' : 'Agents cannot use it like this.')
  }
  if (!works) process.exitCode = 1
}

function find(environment: (name: string) => string | undefined): Promise<FoundModels> {
  return findModels({ environment, clock: systemClock })
}

async function choose(
  wanted: string | undefined,
  config: Config,
  environment: (name: string) => string | undefined,
): Promise<ModelConfig> {
  const configured = listConfigured(config.model)
  const written = chooseModel(wanted, configured, [])
  if (written) return written
  const { servers } = await find(environment)
  const found = chooseModel(wanted, configured, servers)
  if (found) return found
  const known = [...configured.map(({ name }) => name), ...servers.flatMap(({ models }) => models)]
  const there =
    known.length > 0 ? `There is: ${known.join(', ')}` : 'None is configured, and none answers here'
  throw new HubError(
    'not_found',
    `There is no model ${wanted ?? 'to try'}. ${there}. superbloom models shows them.`,
  )
}

/** Reads the quirks that a running hub learnt about its models. */
async function readLearned(config: Config): Promise<unknown[]> {
  try {
    const { structured } = await callHub(findHub(config), 'hub_status', {})
    return hubStatus.safeParse(structured).data?.model.quirks ?? []
  } catch (error) {
    if (error instanceof HubError) return []
    throw error
  }
}

type Configured = NamedModel & LookedUpModel

function describeModels(found: FoundModels, configured: Configured[], learned: unknown[]): string {
  return [
    'On this machine:',
    ...describeServers(found).map(line => `  ${line}`),
    `Keys in the environment: ${found.keys.join(', ') || 'none'}`,
    'Configured:',
    ...(configured.length > 0
      ? configured.flatMap(describeConfigured)
      : [`  none; to connect one, set ${describeVariables(found)}`]),
    ...(learned.length > 0 ? ['Learned:', ...learned.map(one => `  ${JSON.stringify(one)}`)] : []),
    'To try one with what an agent sends: superbloom models try [NAME]',
  ].join('\n')
}

function describeConfigured({ name, entry, sizes, why }: Configured): string[] {
  return [
    `  ${name}: ${entry.model} at ${toShownUrl(entry.baseUrl)}`,
    `    ${describeSizes(sizes)}`,
    ...(why === undefined ? [] : [`    its provider was asked in vain: ${why}`]),
  ]
}

function describeSizes({ context, maxOutput, price, vision, from }: Sizes): string {
  const costs = price
    ? `${price.input} ${price.currency} per million tokens of input, ${price.cachedInput} cached, ${price.output} of output (${from.price})`
    : 'no price known'
  return `context ${context} (${from.context}), reply up to ${maxOutput} (${from.maxOutput}), ${vision ? 'sees' : 'does not see'} pictures (${from.vision}), ${costs}`
}

function describeRequest({ model, baseUrl }: ModelConfig, { agent, tools, without }: AgentRequest): string {
  const what = `Trying ${model} at ${toShownUrl(baseUrl)} with the prompt of ${agent} and ${plural(tools.length, 'tool')}.`
  return without === undefined ? what : `${what} The tools of servers are not among them: ${without}`
}
