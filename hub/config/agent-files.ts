import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type AgentFile, agentFile } from '../../schemas/config.ts'
import { name as agentName } from '../../schemas/names.ts'
import { HubError } from '../core/errors.ts'
import { nextOccurrence } from '../core/schedule-plan.ts'
import type { Environment } from './environment.ts'
import { parseYaml } from './yaml-file.ts'

/** An agent as its file describes it. */
export interface Agent extends Omit<AgentFile, 'conversations'> {
  name: string
  conversations: string[]
  prompt: string
}

export interface AgentFiles {
  agents: Agent[]
  /** Problems by file, each with line and reason; those files count for nothing. */
  problems: { file: string; message: string }[]
}

/** Reads every `<name>.md` of the folder, in the order of their names. A file that is wrong never hides the others. */
export function readAgentFiles(folder: string, environment: Environment): AgentFiles {
  const result: AgentFiles = { agents: [], problems: [] }
  if (!existsSync(folder)) return result
  for (const entry of readdirSync(folder).sort()) {
    if (!entry.endsWith('.md') || entry.startsWith('.') || entry === 'README.md') continue
    const file = join(folder, entry)
    try {
      result.agents.push(parseAgentFile(file, readFileSync(file, 'utf8'), environment))
    } catch (error) {
      if (!(error instanceof HubError) && !isMissingFile(error)) throw error
      if (error instanceof HubError) result.problems.push({ file, message: error.message })
    }
  }
  return result
}

/** A file may go between being listed and being read. */
function isMissingFile(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

/** One agent file: YAML between `---` lines, then the prompt. Throws `bad_request` with file, line and reason. */
export function parseAgentFile(file: string, text: string, environment: Environment): Agent {
  const name = basename(file, '.md')
  const named = agentName.safeParse(name)
  if (!named.success) {
    throw new HubError('bad_request', `${file}: the file's name ${named.error.issues[0]?.message}`)
  }
  const { frontMatter, prompt } = split(text)
  const { conversations, ...parsed } = parseYaml(
    { file, text: frontMatter, lineOffset: 1 },
    agentFile,
    environment,
  )
  for (const { cron, timezone } of parsed.schedules) checkCron(file, cron, timezone)
  if (prompt === '') throw new HubError('bad_request', `${file}: has no prompt below its front matter`)
  return { ...parsed, name, prompt, conversations: conversations ?? [name] }
}

function checkCron(file: string, cron: string, timezone: string | undefined): void {
  try {
    nextOccurrence(cron, timezone ?? 'UTC', 0)
  } catch (error) {
    if (!(error instanceof HubError)) throw error
    throw new HubError('bad_request', `${file}: schedules: ${error.message}`, { cause: error })
  }
}

function split(text: string): { frontMatter: string; prompt: string } {
  const match = /^---\r?\n([\s\S]*?)(?:^|\r?\n)---[ \t]*(?:\r?\n|$)([\s\S]*)$/m.exec(text)
  if (match?.index !== 0) return { frontMatter: '', prompt: text.trim() }
  return { frontMatter: match[1] ?? '', prompt: (match[2] ?? '').trim() }
}
