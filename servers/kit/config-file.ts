import { readFileSync } from 'node:fs'
import { type Environment, readRaw, SettingsError } from './env.ts'
import { describeError } from './log.ts'

/** Reads the file that a variable names, as YAML or JSON. Rejects with SettingsError. */
export async function readConfigFile(variable: string, path: string): Promise<unknown> {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new SettingsError([`${variable} is "${path}", which cannot be read: ${describeError(error)}`])
  }
  return parseConfig(`${variable} ${path}`, text)
}

/** Parses JSON, or YAML with a parser that takes a while to load. Rejects with SettingsError. */
export async function parseConfig(where: string, text: string): Promise<unknown> {
  try {
    return JSON.parse(text)
  } catch (notJson) {
    const { parse } = await import('yaml')
    try {
      return parse(text, { prettyErrors: true })
    } catch (error) {
      const reason = text.trimStart().startsWith('{') ? notJson : error
      throw new SettingsError([`${where} is neither YAML nor JSON: ${describeError(reason)}`])
    }
  }
}

/** Returns the JSON value with each of its texts replaced; keys stay as they are. */
export function mapTexts(
  value: unknown,
  replace: (text: string, path: readonly string[]) => string,
  path: readonly string[] = [],
): unknown {
  if (typeof value === 'string') return replace(value, path)
  if (Array.isArray(value)) return value.map((part, index) => mapTexts(part, replace, [...path, `${index}`]))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, part]) => [key, mapTexts(part, replace, [...path, key])])
  return Object.fromEntries(entries)
}

/**
 * Replaces every `${NAME}` in the value's texts by that variable, or by the content of the file in its
 * `NAME_FILE` twin. Adds each missing variable to the problems, with its place in the value.
 */
export function expandVariables(
  value: unknown,
  { where, environment, problems }: { where: string; environment: Environment; problems: string[] },
): unknown {
  return mapTexts(value, (whole, path) =>
    whole.replace(/\$\{([A-Za-z_]\w*)\}/g, (_all, name: string) => {
      const raw = readRaw(name, environment)
      const problem = raw.problem ?? `the environment has no ${name}; set it or write the value`
      if (raw.text === undefined) problems.push(`${where}: ${path.join('.')}: ${problem}`)
      return raw.text ?? ''
    }),
  )
}
