import { homedir } from 'node:os'
import { basename, sep } from 'node:path'
import type { Environment } from './environment.ts'

/** Values that `${…}` may name besides variables of the environment. */
export interface Surroundings {
  environment: Environment
  /** Folder of the file: `${workspaceFolder}`. */
  folder: string
  /** Defaults, by id, of the questions that another client asks a person (`inputs` of VS Code). */
  inputs: ReadonlyMap<string, string | undefined>
}

/**
 * Matches `${NAME}`, `${NAME:-default}` (Claude Code), `${env:NAME}` (VS Code, Cursor), `${input:id}` (VS
 * Code), and names of a folder or a sign. Anything else in braces is plain text, also a shell's own
 * expansions (`${NAME:0:3}`).
 */
const VARIABLE = /\$\{(?:(env|input):([^{}:]+)|([A-Za-z_][A-Za-z0-9_]*)|(\/))(?::-([^}]*))?\}/g

/** Matches variables that only another client can fill in: `${command:pick}`, `${config:a.b}` of VS Code. */
const FOREIGN = /\$\{[A-Za-z][A-Za-z0-9_]*:[A-Za-z][^{}]*\}/g

/** Returns the foreign variables of a text, which the program would get unexpanded. */
export function findForeign(text: string): string[] {
  return text.replace(VARIABLE, '').match(FOREIGN) ?? []
}

/** Replaces the variables. One without a value becomes an empty text and is reported to `onMissing`. */
export function expand(text: string, around: Surroundings, onMissing: (problem: string) => void): string {
  return text.replace(VARIABLE, (_whole, scope, scoped, plain, sign, fallback) => {
    const name = String(scoped ?? plain ?? sign)
    const isInput = scope === 'input'
    // The hub asks no person: a variable answers an input, GITHUB_TOKEN the input `github-token`.
    const variable = isInput ? name.toUpperCase().replace(/[^A-Z0-9]+/g, '_') : name
    const value = around.environment(variable) ?? (isInput ? around.inputs.get(name) : undefined)
    const found = value ?? fallback ?? (scope === undefined ? predefined(name, around.folder) : undefined)
    if (found === undefined)
      onMissing(
        isInput
          ? `\${input:${name}} is what another client asks a person for; set ${variable} or write the value`
          : `the environment has no ${name}; set it or write the value`,
      )
    return found ?? ''
  })
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
