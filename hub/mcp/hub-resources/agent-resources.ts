import { HubError } from '../../core/errors.ts'
import { readContext } from '../../store/context.ts'
import { listSchedules } from '../../store/schedules.ts'
import { readAgents } from '../hub-tools/agents.ts'
import type { HubToolReads } from '../hub-tools/deps.ts'
import { toScheduleView } from '../hub-tools/schedules.ts'
import { behind, JSON_TYPE, type ResourceKind } from './kind.ts'

const AGENTS = 'hub://agents/'

export function toAgentUri(name: string): string {
  return `${AGENTS}${name}`
}

/**
 * Creates the resources of agents: an agent as `hub_list_agents` gives it, with its pending wake-ups and the
 * keys of its stored facts.
 */
export function createAgentResources(deps: HubToolReads): ResourceKind {
  const present = async () => (await deps.agents()).filter(({ status }) => status !== 'retired')
  return {
    template: {
      uriTemplate: `${AGENTS}{name}`,
      name: 'agent',
      title: 'An agent',
      description:
        'What an agent does now, what it used today, its pending wake-ups, and what it remembers of.',
      mimeType: JSON_TYPE,
    },
    argument: 'name',
    list: async () =>
      (await present()).map(({ name, description }) => ({
        uri: toAgentUri(name),
        name: `agents/${name}`,
        title: `Agent ${name}`,
        ...(description === '' ? {} : { description }),
        mimeType: JSON_TYPE,
      })),
    async read(uri) {
      const name = behind(AGENTS, uri)
      return name === undefined ? undefined : readAgent(deps, name)
    },
    complete: async beginning =>
      (await present()).map(({ name }) => name).filter(name => name.startsWith(beginning)),
  }
}

async function readAgent(deps: HubToolReads, name: string) {
  const { db } = deps.store
  const agents = await readAgents(deps)
  const agent = agents.find(each => each.name === name)
  if (!agent) {
    const there = agents.map(each => each.name).join(', ') || 'none'
    throw new HubError('not_found', `There is no agent ${name}; agents: ${there}`)
  }
  const facts = await readContext(db, { scope: 'agent', owner: name })
  return {
    ...agent,
    schedules: (await listSchedules(db, name)).map(toScheduleView),
    contextKeys: facts.map(({ key }) => key),
  }
}
