import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { describeProblems } from '../../../schemas/problems.ts'
import { type Environment, readRaw, SettingsError } from '../../kit/env.ts'
import { describeError } from '../../kit/log.ts'
import { mapTexts } from '../text/map-texts.ts'

const shape = z.strictObject({
  timezone: z.string().optional(),
  routing: z.unknown().optional(),
  channels: z.record(z.string(), z.looseObject({})),
})

/**
 * Reads the file as YAML or JSON by its ending, and returns its content with its path. Rejects with
 * SettingsError.
 */
export async function readConfigFile(path: string | undefined) {
  if (path === undefined) return undefined
  const fail = (why: string) => new SettingsError([`${path} (NOTIFICATIONS_CONFIG) cannot be used: ${why}`])
  const content = await readContent(path).catch(error => {
    throw fail(describeError(error))
  })
  const parsed = shape.safeParse(content)
  if (parsed.success) return { path, ...parsed.data }
  throw fail(describeProblems(parsed.error, 'the whole'))
}

async function readContent(path: string): Promise<unknown> {
  const text = await readFile(path, 'utf8')
  return path.endsWith('.json') ? JSON.parse(text) : (await import('yaml')).parse(text)
}

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
  const expanded = mapTexts(value, text =>
    text.replace(/\$\{(\w+)\}/g, (all, name: string) => {
      const raw = readRaw(name, environment)
      if (raw.text !== undefined) return raw.text
      problems.push(
        raw.problem ??
          `${name}, which ${where} uses, is not set. The hub hands this server variables that begin with NOTIFICATIONS_, and those that servers.notifications.env of its config sets.`,
      )
      return all
    }),
  )
  return expanded as Value
}
