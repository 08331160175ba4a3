import { z } from 'zod'
import { type AgentMeaning, type AgentProblem, agentEdit } from '../../../schemas/agent-edit.ts'
import { name } from '../../../schemas/names.ts'
import type { Power } from '../../../schemas/power.ts'
import { matchesGlob } from '../../core/glob.ts'
import { nextOccurrence } from '../../core/schedule-plan.ts'
import { factsOf } from '../../store/context.ts'
import { mainThreadId } from '../../store/threads.ts'
import { checkAgentIsKnown, type HubToolDeps, type ParsedAgent } from './deps.ts'
import { defineHubTool } from './hub-tool.ts'

/** Characters of the longest file that is taken. */
const LONGEST_TEXT = 200_000

const agent = name.describe('name of the file without .md')
const text = z.string().min(1).max(LONGEST_TEXT).describe('the whole file: front matter and prompt')
const sha256 = z.string().describe('of the file as it was read')

export const readAgent = defineHubTool({
  name: 'hub_read_agent',
  title: "Read an agent's file",
  description:
    "An agent's file as it is on the disk, what it means or what is wrong with it, and what the agent remembers. A retired agent's former file too.",
  input: z.strictObject({ agent }),
  output: agentEdit,
  effect: 'reads',
  right: 'admin',
  async run({ agent }, { deps }) {
    await checkAgentIsKnown(deps, agent)
    const file = deps.agentFiles.read(agent)
    const facts = await factsOf(deps.store.db, agent, mainThreadId(agent))
    return {
      agent,
      ...file,
      ...(file.text === undefined ? { problems: [] } : explainText(deps, agent, file.text)),
      facts,
    }
  },
  toText: ({ file, text, problems }) =>
    [file, ...problems.map(describeProblem), text ?? 'There is no such file now.'].join('\n'),
})

export const checkAgent = defineHubTool({
  name: 'hub_check_agent',
  title: "Check an agent's file",
  description: "What a text would mean as an agent's file, or all that is wrong with it. Nothing is written.",
  input: z.strictObject({ agent, text }),
  output: agentEdit.pick({ problems: true, meaning: true }),
  effect: 'reads',
  right: 'admin',
  run: async ({ agent, text }, { deps }) => explainText(deps, agent, text),
  toText: ({ problems }) => problems.map(describeProblem).join('\n') || 'The file is right.',
})

export const writeAgent = defineHubTool({
  name: 'hub_write_agent',
  title: "Write an agent's file",
  description:
    'Writes the whole file of an agent, and puts it in force. A wrong text is refused, and so is a change of a file that is no longer as it was read.',
  input: z.strictObject({
    agent,
    text,
    sha256: sha256.optional().describe(`${sha256.description}; none for a new file`),
  }),
  output: agentEdit.pick({ agent: true, file: true, sha256: true }),
  effect: 'removes',
  right: 'admin',
  async run({ agent, text, sha256 }, { deps, principal }) {
    await deps.agentFiles.write({ name: agent, text, sha256 }, principal)
    const { file, sha256: written } = deps.agentFiles.read(agent)
    return { agent, file, ...(written === undefined ? {} : { sha256: written }) }
  },
  toText: ({ file }) => `Wrote ${file}.`,
})

export const removeAgent = defineHubTool({
  name: 'hub_remove_agent',
  title: 'Retire an agent',
  description:
    'Removes the file of an agent: its schedules are held and posts to it refused, and its history stays. hub_read_agent gives the former file, which brings it back.',
  input: z.strictObject({ agent, sha256 }),
  output: agentEdit.pick({ agent: true, file: true }),
  effect: 'removes',
  right: 'admin',
  async run({ agent, sha256 }, { deps, principal }) {
    await deps.agentFiles.remove({ name: agent, sha256 }, principal)
    return { agent, file: deps.agentFiles.read(agent).file }
  },
  toText: ({ agent, file }) => `${agent} is retired: ${file} is removed.`,
})

function describeProblem({ line, message }: AgentProblem): string {
  return line === undefined ? message : `line ${line}: ${message}`
}

function explainText(deps: HubToolDeps, name: string, text: string) {
  const checked = deps.agentFiles.check(name, text)
  return 'problems' in checked
    ? { problems: checked.problems }
    : { problems: [], meaning: explainAgent(deps, checked.agent) }
}

/** Says what an agent's file means with the tools and the time of now. */
function explainAgent(deps: HubToolDeps, agent: ParsedAgent): AgentMeaning {
  const { description, model, shared, conversations, limits } = agent
  const answers = (power: Power) => deps.explain({ agent, power, hasReadForeign: false })
  const routine = new Map(answers('routine').map(({ tool, kind }) => [tool, kind]))
  const tools = answers('person').map(({ tool, toolClass, kind }) => {
    return { tool, toolClass, person: kind, routine: routine.get(tool) ?? kind }
  })
  const all = deps.explain({ agent: { ...agent, tools: ['*'] }, power: 'person', hasReadForeign: false })
  const globs = [...agent.tools, ...agent.grants, ...agent.approve]
  const isMatched = (glob: string) => all.some(({ tool }) => matchesGlob(glob.replace(/^!/, ''), tool))
  return {
    description,
    model,
    shared,
    conversations,
    tools,
    unmatched: [...new Set(globs)].filter(glob => !isMatched(glob)),
    schedules: agent.schedules.map(({ timezone = deps.timezone, ...schedule }) => {
      const nextRun = nextOccurrence(schedule.cron, timezone, deps.clock.now())
      return { ...schedule, timezone, ...(nextRun === undefined ? {} : { nextRun }) }
    }),
    events: agent.events.map(event => (typeof event === 'string' ? event : event.type)),
    limits,
  }
}
