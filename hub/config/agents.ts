import { copyFileSync, existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describeError, HubError } from '../core/errors.ts'
import type { Log } from '../core/log.ts'
import type { ModelsConfig } from '../core/model.ts'
import { type Agent, parseAgentFile, readAgentFiles } from './agent-files.ts'
import { makeFolder } from './data-folder.ts'
import type { Environment } from './environment.ts'
import { packageFolder } from './paths.ts'

export type Agents = ReturnType<typeof createAgents>

/** Reads the agent files, and keeps them in memory. A missing folder is made, with the default agent in it. */
export function createAgents(
  folder: string,
  environment: Environment,
  log: Log,
  models: () => ModelsConfig | undefined,
) {
  if (!existsSync(folder)) installDefault(folder)
  if (!statSync(folder).isDirectory()) {
    throw new HubError('bad_request', `SUPERBLOOM_AGENTS: ${folder} is not a folder`)
  }
  const fileOf = (name: string) => join(folder, `${name}.md`)
  let all: Agent[] = []
  let byName = new Map<string, Agent>()
  let problems: string[] = []
  const reload = () => {
    const read = readAgentFiles(folder, environment, models())
    const kept = all.filter(agent => read.problems.some(({ file }) => file === fileOf(agent.name)))
    all = [...read.agents, ...kept].sort((a, b) => (a.name < b.name ? -1 : 1))
    byName = new Map(all.map(agent => [agent.name, agent]))
    problems = read.problems.map(({ message }) => message)
    for (const message of problems) log.error('agent_file_wrong', { message })
  }
  reload()
  return {
    get all(): readonly Agent[] {
      return all
    },
    /** Files that are not used, and why; an agent that was read before stays as it was. */
    get problems(): readonly string[] {
      return problems
    },
    find: (name: string) => byName.get(name),
    /** Returns all agents; with `only` that one, if there is one. */
    list: (only?: string): readonly Agent[] =>
      only === undefined ? all : [byName.get(only)].filter(agent => agent !== undefined),
    /** Returns where an agent's file is, or would be. */
    fileOf,
    /**
     * Returns the agent that a text would be as the file of this name. Throws `bad_request` with file, line and
     * reason.
     */
    parse: (name: string, text: string) => parseAgentFile(fileOf(name), text, environment, models()),
    reload,
  }
}

function installDefault(folder: string): void {
  try {
    makeFolder(folder)
    copyFileSync(join(packageFolder, 'agents', 'homelab.md'), join(folder, 'homelab.md'))
  } catch (error) {
    throw new HubError(
      'bad_request',
      `The folder of agents ${folder} cannot be made: ${describeError(error)}. Make it, or name another one with SUPERBLOOM_AGENTS.`,
      { cause: error },
    )
  }
}
