import { homedir } from 'node:os'
import { basename, sep } from 'node:path'
import type { Environment } from './environment.ts'

/** What `${…}` in a text may name besides variables of the environment. */
export interface Surroundings {
  environment: Environment
  /** Of the file: `${workspaceFolder}`. */
  folder: string
  /** Of the questions that another client asks a person (`inputs` of VS Code): their defaults, by id. */
  inputs: ReadonlyMap<string, string | undefined>
}

/**
 * `${NAME}`, `${NAME:-default}` (Claude Code), `${env:NAME}` (VS Code, Cursor), `${input:id}` (VS Code), and what
 * stands for a folder or a sign. Anything else in braces is a text like any other, also what a shell does with its own
 * variables (`${NAME:0:3}`).
 */
const VARIABLE = /\$\{(?:(env|input):([^{}:]+)|([A-Za-z_][A-Za-z0-9_]*)|(\/))(?::-([^}]*))?\}/g

/** What only another client can fill in: `${command:pick}`, `${config:a.b}` of VS Code. */
const FOREIGN = /\$\{[A-Za-z][A-Za-z0-9_]*:[A-Za-z][^{}]*\}/g

/** Those of an entry that the program would get as they are written. */
export function findForeign(text: string): string[] {
  return text.replace(VARIABLE, '').match(FOREIGN) ?? []
}

/** Replaces them; one without a value becomes nothing, and is told. */
export function expand(text: string, around: Surroundings, onMissing: (problem: string) => void): string {
  return text.replace(VARIABLE, (_whole, scope, scoped, plain, sign, fallback) => {
    const name = String(scoped ?? plain ?? sign)
    const value = scope === 'input' ? inputOf(name, around) : around.environment(name)
    const found = value ?? fallback ?? (scope === undefined ? predefined(name, around.folder) : undefined)
    if (found === undefined) onMissing(scope === 'input' ? describeInput(name) : describeMissing(name))
    return found ?? ''
  })
}

function inputOf(id: string, { environment, inputs }: Surroundings): string | undefined {
  return environment(toVariable(id)) ?? inputs.get(id)
}

/** Nobody is asked here: the answer comes from the environment. `github-token` is GITHUB_TOKEN there. */
function toVariable(id: string): string {
  return id.toUpperCase().replace(/[^A-Z0-9]+/g, '_')
}

function describeMissing(name: string): string {
  return `the environment has no ${name}; set it or write the value`
}

function describeInput(id: string): string {
  return `\${input:${id}} is what another client asks a person for; set ${toVariable(id)} or write the value`
}

function predefined(name: string, folder: string): string | undefined {
  switch (name) {
    case 'userHome':
      return homedir()
    case 'workspaceFolder':
      return folder
    case 'workspaceFolderBasename':
      return basename(folder)
    case 'pathSeparator':
    case '/':
      return sep
    default:
      return undefined
  }
}
