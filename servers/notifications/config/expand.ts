import { type Environment, readRaw } from '../../kit/env.ts'

/**
 * Replaces every `${NAME}` in the value's texts by that variable, or by the content of the file in its
 * `NAME_FILE` twin. Missing variables are added to the problems.
 */
export function expandVariables<Value>(
  value: Value,
  where: string,
  environment: Environment,
  problems: string[],
): Value {
  const expand = (inner: unknown): unknown => {
    if (typeof inner === 'string') return expandText(inner, where, environment, problems)
    if (Array.isArray(inner)) return inner.map(expand)
    if (typeof inner !== 'object' || inner === null) return inner
    return Object.fromEntries(Object.entries(inner).map(([key, part]) => [key, expand(part)]))
  }
  return expand(value) as Value
}

function expandText(text: string, where: string, environment: Environment, problems: string[]): string {
  return text.replace(/\$\{(\w+)\}/g, (all, name: string) => {
    const raw = readRaw(name, environment)
    if (raw.text !== undefined) return raw.text
    problems.push(
      raw.problem ??
        `${name}, which ${where} uses, is not set. The hub hands this server variables that begin with NOTIFICATIONS_, and those that servers.notifications.env of its config sets.`,
    )
    return all
  })
}
