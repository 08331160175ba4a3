import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type AgentFile, agentFile } from '../../schemas/agent-file.ts'
import type { ClientPrompt } from '../../schemas/client-prompt.ts'
import { name as agentName } from '../../schemas/names.ts'
import { isTimezone } from '../../schemas/timezone.ts'
import { describeError, HubError } from '../core/errors.ts'
import type { ModelsConfig } from '../core/model.ts'
import { nextOccurrence } from '../core/schedule-plan.ts'
import type { Environment } from './environment.ts'
import { hasPrices } from './models.ts'
import { parseYaml } from './yaml-file.ts'

export interface Agent extends Omit<AgentFile, 'conversations' | 'prompt'> {
  name: string
  conversations: string[]
  /** The agent's instructions to the model. */
  prompt: string
  /** Prompt that the hub's clients offer to people; undefined where the file declares none. */
  clientPrompt?: ClientPrompt | undefined
}

export interface AgentFiles {
  agents: Agent[]
  /** Problems by file, each with line and reason. These files are not used. */
  problems: { file: string; message: string }[]
}

/**
 * Reads every `<name>.md` of the folder, ordered by name. A wrong file does not hide the others. `models` are
 * those of the config, by whose names and prices the files are checked.
 */
export function readAgentFiles(
  folder: string,
  environment: Environment,
  models: ModelsConfig | undefined,
): AgentFiles {
  const result: AgentFiles = { agents: [], problems: [] }
  if (!existsSync(folder)) return result
  for (const entry of readdirSync(folder).sort()) {
    if (!entry.endsWith('.md') || entry.startsWith('.') || entry === 'README.md') continue
    const file = join(folder, entry)
    try {
      result.agents.push(parseAgentFile(file, readFileSync(file, 'utf8'), environment, models))
    } catch (error) {
      // The file may be removed between being listed and being read.
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') continue
      const message = error instanceof HubError ? error.message : `${file}: ${describeError(error)}`
      result.problems.push({ file, message })
    }
  }
  return result
}

/**
 * Parses a file: YAML between `---` lines, then the prompt. Throws `bad_request` with file, line and reason.
 */
export function parseAgentFile(
  file: string,
  text: string,
  environment: Environment,
  models: ModelsConfig | undefined,
): Agent {
  const name = basename(file, '.md')
  const named = agentName.safeParse(name)
  if (!named.success) {
    throw new HubError('bad_request', `${file}: the file's name ${named.error.issues[0]?.message}`)
  }
  const { frontMatter, prompt, lineOffset } = split(file, text)
  const {
    conversations,
    prompt: clientPrompt,
    ...parsed
  } = parseYaml({ file, text: frontMatter, lineOffset }, checkedAgentFile(models), { environment })
  if (prompt === '') throw new HubError('bad_request', `${file}: has no prompt below its front matter`)
  return { ...parsed, name, prompt, clientPrompt, conversations: conversations ?? [name] }
}

function checkedAgentFile(models: ModelsConfig | undefined) {
  const names = ['default', ...Object.keys(models?.named ?? {})]
  return agentFile.superRefine(({ schedules, limits, model }, context) => {
    if (!names.includes(model)) {
      const message = `there is no model of that name: ${names.join(', ')}; name others in model.named of superbloom.yaml`
      context.addIssue({ code: 'custom', path: ['model'], message })
    }
    for (const [index, { cron, timezone }] of schedules.entries()) {
      const message = findCronProblem(cron, timezone)
      if (message) context.addIssue({ code: 'custom', path: ['schedules', index, 'cron'], message })
    }
    if (limits.moneyPerDay === undefined || hasPrices(models)) return
    const message =
      'money cannot be limited without prices: give every model in superbloom.yaml its price, or use tokensPerDay'
    context.addIssue({ code: 'custom', path: ['limits', 'moneyPerDay'], message })
  })
}

function findCronProblem(cron: string, timezone = 'UTC'): string | undefined {
  if (!isTimezone(timezone)) return undefined
  try {
    return nextOccurrence(cron, timezone, 0) === undefined ? `"${cron}" never comes` : undefined
  } catch (error) {
    if (!(error instanceof HubError)) throw error
    return error.message
  }
}

/**
 * Splits a file into the text between its first `---` line and the next, and the text after them. Front
 * matter that is opened and never closed is an error: if it counted as a prompt, its limits on tools would
 * silently not hold.
 */
function split(file: string, text: string): { frontMatter: string; prompt: string; lineOffset: number } {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/)
  const begin = lines.findIndex(line => line.trim() !== '')
  if (!isFence(lines[begin])) return { frontMatter: '', prompt: lines.join('\n').trim(), lineOffset: 0 }
  const end = lines.findIndex((line, index) => index > begin && isFence(line))
  if (end < 0) {
    throw new HubError(
      'bad_request',
      `${file}:${begin + 1}: the front matter has no end, a line with --- alone`,
    )
  }
  return {
    frontMatter: lines.slice(begin + 1, end).join('\n'),
    prompt: lines
      .slice(end + 1)
      .join('\n')
      .trim(),
    lineOffset: begin + 1,
  }
}

function isFence(line: string | undefined): boolean {
  return line?.trimEnd() === '---'
}
