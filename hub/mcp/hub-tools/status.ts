import { z } from 'zod'
import type { UpstreamHealth } from '../../../schemas/health.ts'
import { type Budgets, type HubStatus, hubStatus } from '../../../schemas/hub-status.ts'
import { toIso } from '../../core/clock.ts'
import { describeUncontained } from '../../core/describe-uncontained.ts'
import { plural, toLine, truncate } from '../../core/text.ts'
import { defineHubTool } from './hub-tool.ts'

export const status = defineHubTool({
  name: 'hub_status',
  title: 'Status of the hub',
  description:
    'Servers and their health, the model, queues, budgets, the store, and what is wrong with config or agent files.',
  input: z.strictObject({
    health: z
      .boolean()
      .optional()
      .describe('also asks each server whether the programs behind it answer; takes some seconds'),
  }),
  output: hubStatus,
  effect: 'reads',
  right: 'records',
  run: (asked, { deps }) => deps.status(asked),
  toText: describeStatus,
})

export function describeStatus(state: HubStatus): string {
  const servers = state.servers.flatMap(one => [
    toRow(
      '  ',
      `${one.name}${describeName(one)}: ${one.state}, ${plural(one.tools, 'tool')}${describeTrouble(one)}`,
    ),
    ...(one.collisions ?? []).map(collision => toRow('    ', `a name that another has: ${collision}`)),
    ...(one.leftOut ?? []).map(entry => toRow('    ', `left out: ${entry}`)),
    ...describeChanged(one).map(line => toRow('    ', line)),
    ...(one.upstreams ?? []).map(upstream => toRow('    ', describeUpstream(upstream))),
  ])
  const { kind, name, baseUrl } = state.model
  const model =
    kind === 'commands'
      ? 'the built-in commands, no language model'
      : `model ${name}${baseUrl ? ` at ${baseUrl}` : ''}`
  return [
    ...(state.held ? [describeHeld(state.held)] : []),
    `${state.hub.name} ${state.hub.version}, ${model}`,
    `Now: ${plural(state.queues.busy, 'cycle')} running, ${plural(state.queues.waiting, 'inbox item')} waiting`,
    `Store: ${describeStore(state.store)}`,
    ...describeFailures(state),
    ...describeBudgets(state.budgets),
    'Servers:',
    ...(servers.length > 0 ? servers : ['  none']),
    ...describeUncontained(state.servers).map(toLine),
    ...state.problems.map(problem => toLine(`Problem: ${problem}`)),
  ].join('\n')
}

const STORES: Readonly<Record<string, string>> = { sqlite: 'SQLite', postgres: 'PostgreSQL' }

function describeStore({ kind, bytes }: HubStatus['store']): string {
  return `${STORES[kind] ?? kind}, ${(bytes / 1_000_000).toFixed(1)} MB`
}

function toRow(indent: string, text: string): string {
  return `${indent}${toLine(text)}`
}

/** Describes the tools of a server that changed, in a line for a person; none if none did. */
export function describeChanged({ name, changedTools = [] }: HubStatus['servers'][number]): string[] {
  if (changedTools.length === 0) return []
  const shown = truncate(changedTools.map(tool => tool.name).join(', '), LONGEST_CHANGED)
  return [`${plural(changedTools.length, 'tool')} changed: ${shown}; superbloom servers accept ${name}`]
}

/** The most characters of the names of changed tools. */
const LONGEST_CHANGED = 400

/** Returns the server's other name, to follow its name. */
export function describeName({ writtenAs }: Pick<HubStatus['servers'][number], 'writtenAs'>): string {
  return writtenAs === undefined ? '' : ` (written as "${writtenAs}")`
}

function describeTrouble({ error, nextTryAt }: HubStatus['servers'][number]): string {
  const again = nextTryAt === undefined ? [] : [`next try at ${toIso(nextTryAt)}`]
  const parts = [...(error ? [error] : []), ...again]
  return parts.length > 0 ? ` (${parts.join('; ')})` : ''
}

/** Describes one program behind a server, as a line for a person. */
export function describeUpstream({ name, kind, address, ok, version, reason }: UpstreamHealth): string {
  const what = name.toLowerCase() === kind.toLowerCase() ? name : `${name} (${kind})`
  const where = address === '' ? '' : ` at ${address}`
  if (ok) return `${what}${where} answers${version === undefined ? '' : `, version ${version}`}`
  return `${what}${where} cannot be used: ${reason ?? 'it does not say why'}`
}

/** Describes the hold after a crash loop, as a line for a person. */
export function describeHeld({ until }: NonNullable<HubStatus['held']>): string {
  return `HELD: the hub ended three times in a row right after its start, while an agent worked, so no agent runs until ${toIso(until)}. Messages are kept. Read the log; to let the agents go now: superbloom status --release`
}

function describeFailures({ model, deadLetters, serversDown }: HubStatus): string[] {
  const down = model.health.filter(({ state }) => state !== 'ok')
  return [
    ...down.map(
      one =>
        `Model ${one.name} is down${one.retryAt === undefined ? '' : `, asked again at ${toIso(one.retryAt)}`}${one.error ? `: ${toLine(one.error)}` : ''}`,
    ),
    ...model.quirks.map(one => toLine(`Model ${one.model} ${one.what} (since ${toIso(one.since)})`)),
    ...(model.parked > 0 ? [`${plural(model.parked, 'cycle')} parked until a model answers`] : []),
    ...(deadLetters.open > 0 ? [`${plural(deadLetters.open, 'dead letter')}: superbloom dead-letters`] : []),
    ...serversDown.map(({ name, since }) => `The server ${name} has been down since ${toIso(since)}`),
  ]
}

/** Describes today's use in lines for a person: of all, then of each agent that did something. */
function describeBudgets({ currency = '', tokens, money, agents }: Budgets): string[] {
  const amounts = (one: Pick<Budgets, 'tokens' | 'money'>) => {
    const spent = one.money.used > 0 || one.money.limit !== undefined
    return `${describeUsed(one.tokens)} tokens${spent ? `, ${`${describeUsed(one.money)} ${currency}`.trim()}` : ''}`
  }
  return [
    `Today: ${amounts({ tokens, money })}`,
    ...agents
      .filter(one => one.tokens.used > 0 || one.wakes.used > 0)
      .map(one => `  ${one.name}: ${amounts(one)}, woken ${plural(one.wakes.used, 'time')}`),
  ]
}

function describeUsed({ used: amount, limit }: Budgets['tokens']): string {
  const show = (value: number) => value.toLocaleString('en', { maximumFractionDigits: 4 })
  return limit === undefined ? show(amount) : `${show(amount)} of ${show(limit)}`
}
