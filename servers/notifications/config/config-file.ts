import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { describeProblems } from '../../../schemas/problems.ts'
import { SettingsError } from '../../kit/env.ts'
import { describeError } from '../../kit/log.ts'

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
  const text = await readFile(path, 'utf8').catch(error => {
    throw fail(describeError(error))
  })
  const parsed = shape.safeParse(await parseText(path, text, fail))
  if (parsed.success) return { path, ...parsed.data }
  throw fail(describeProblems(parsed.error, 'the whole'))
}

async function parseText(path: string, text: string, fail: (why: string) => SettingsError): Promise<unknown> {
  try {
    return path.endsWith('.json') ? JSON.parse(text) : (await import('yaml')).parse(text)
  } catch (error) {
    throw fail(describeError(error))
  }
}
