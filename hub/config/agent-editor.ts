import { hash } from 'node:crypto'
import { copyFileSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { AgentProblem } from '../../schemas/agent-edit.ts'
import { HubError } from '../core/errors.ts'
import type { Principal } from '../core/principal.ts'
import type { Agent } from './agent-files.ts'
import type { Agents } from './agents.ts'
import { writeWhole, writing } from './write-file.ts'

/** An agent's file as it is on the disk. */
export interface AgentOnDisk {
  file: string
  /** Missing where there is no such file. */
  text?: string
  /** SHA-256 of the text. */
  sha256?: string
  /** The text before the last change that was made here. */
  former?: string
}

/** A change of a file; `sha256` is that of the text that it changes, undefined for a new file. */
interface AgentEdit {
  name: string
  sha256: string | undefined
}

interface AgentEditorParts {
  agents: Pick<Agents, 'fileOf' | 'parse'>
  dataFolder: string
  /** Puts a change in force that somebody made. */
  onChange: (file: string, by: Principal) => Promise<void>
}

/** Creates what reads, checks and changes agent files. A wrong text is refused whole. */
export function createAgentEditor({ agents, dataFolder, onChange }: AgentEditorParts) {
  const formerFile = (name: string) => join(dataFolder, 'former-agents', `${name}.md`)

  const read = (name: string): AgentOnDisk => {
    const file = agents.fileOf(name)
    const text = readText(file)
    const former = readText(formerFile(name))
    return {
      file,
      ...(text === undefined ? {} : { text, sha256: hash('sha256', text) }),
      ...(former === undefined ? {} : { former }),
    }
  }

  /** Keeps the text that is about to change. Throws `conflict` where the file is not as the editor saw it. */
  const begin = ({ name, sha256 }: AgentEdit): string => {
    const there = read(name)
    if (there.sha256 !== sha256) throw new HubError('conflict', describeConflict(there, sha256))
    const kept = formerFile(name)
    if (there.sha256 === undefined) return there.file
    writing(kept, () => {
      mkdirSync(dirname(kept), { recursive: true, mode: 0o700 })
      copyFileSync(there.file, kept)
    })
    return there.file
  }

  return {
    read,

    /** Returns the agent that a text would be, or all that is wrong with it. */
    check(name: string, text: string): { agent: Agent } | { problems: AgentProblem[] } {
      try {
        return { agent: agents.parse(name, text) }
      } catch (error) {
        if (!(error instanceof HubError)) throw error
        return { problems: toProblems(agents.fileOf(name), error.message) }
      }
    },

    /**
     * Writes a file, which keeps its owner, mode and links. Throws `bad_request` for a wrong text, `conflict`, and
     * `unavailable` where it cannot be written.
     */
    async write({ text, ...edit }: AgentEdit & { text: string }, by: Principal): Promise<void> {
      agents.parse(edit.name, text)
      const file = begin(edit)
      writing(file, () => writeWhole(file, text, { mode: 0o666 }))
      await onChange(file, by)
    },

    /** Removes a file; its text stays as the former one. Throws `conflict` and `unavailable`. */
    async remove(edit: AgentEdit, by: Principal): Promise<void> {
      const file = begin(edit)
      writing(file, () => rmSync(file))
      await onChange(file, by)
    },
  }
}

function readText(file: string): string | undefined {
  return statSync(file, { throwIfNoEntry: false })?.isFile() ? readFileSync(file, 'utf8') : undefined
}

function describeConflict({ file, sha256: there }: AgentOnDisk, seen: string | undefined): string {
  if (there === undefined)
    return `${file} was removed meanwhile: copy what you wrote, and make it a new agent`
  if (seen === undefined) return `${file} exists already: open it, or choose another name`
  return `${file} was changed meanwhile: compare it with what you wrote before you save`
}

/** Splits a refusal, whose lines begin with the file and mostly a line's number. */
function toProblems(file: string, message: string): AgentProblem[] {
  return message.split('\n').map(told => {
    const rest = told.startsWith(file) ? told.slice(file.length) : told
    const [, line, what] = /^:(\d+): (.*)$/s.exec(rest) ?? []
    if (line === undefined || what === undefined) return { message: rest.replace(/^: /, '') }
    return { line: Number(line), message: what }
  })
}
