import { readFileSync } from 'node:fs'
import ms from 'ms'
import { z } from 'zod'
import { describeError } from './log.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** One setting: how its text is read, its purpose and its form, for messages and for the README. */
export interface Setting<Value> {
  readonly schema: z.ZodType<Value, string>
  /** The text used for an unset variable; undefined if the setting may be missing. */
  readonly default: string | undefined
  readonly purpose: string
  readonly form: string
  /** Where a person finds the value: "Radarr: Settings > General". */
  readonly where?: string | undefined
  /** True if no message may show its value. */
  readonly secret?: boolean
  /** True if a missing value is a problem. Set by `required`. */
  readonly required?: boolean
}

export type SettingsTable = Readonly<Record<string, Setting<unknown>>>
export type SettingsOf<Table extends SettingsTable> = {
  readonly [Name in keyof Table]: Table[Name] extends Setting<infer Value> ? Value : never
}

/** Wrong settings: the message names each one with its purpose and the form that it must have. */
export class SettingsError extends Error {
  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.name = 'SettingsError'
  }
}

/** Returns the environment of this process. Read it once, at the start. */
export function systemEnvironment(): Environment {
  return process.env
}

/**
 * Reads the settings of a table by name, frozen. An empty variable counts as unset; `NAME_FILE` names a file
 * that holds the value of `NAME` (for secrets). Throws SettingsError with all problems at once.
 */
export function readSettings<const Table extends SettingsTable>(
  table: Table,
  environment: Environment,
): SettingsOf<Table> {
  const problems: string[] = []
  const entries = Object.entries(table).map(([name, setting]) => {
    const { value, problem } = readSetting(name, setting, environment)
    if (problem !== undefined) problems.push(problem)
    return [name, value]
  })
  if (problems.length > 0) throw new SettingsError(problems)
  return Object.freeze(Object.fromEntries(entries)) as SettingsOf<Table>
}

/** Reads one setting's value, or returns its problem, which never contains the text of a secret. */
export function readSetting(
  name: string,
  setting: Setting<unknown>,
  environment: Environment,
): { value?: unknown; problem?: string } {
  const raw = readRaw(name, environment)
  if (raw.problem !== undefined) return { problem: raw.problem }
  const text = raw.text ?? setting.default
  if (text === undefined) {
    return setting.required ? { problem: `${name} is not set: ${describeSetting(setting)}` } : {}
  }
  const parsed = setting.schema.safeParse(text)
  if (parsed.success) return { value: parsed.data }
  const shown = setting.secret ? 'set to something else' : JSON.stringify(text)
  return { problem: `${name} is ${shown}, but ${describeSetting(setting)}` }
}

/** Returns a setting of milliseconds, written as a span: "15s", "2m", "0". Both bounds are inclusive. */
export function spanSetting(span: NumberRange): Setting<number> {
  const schema = z.string().transform((text, context) => {
    const value = /^\d+(\.\d+)?\s*(ms|s|m|h)?$/.test(text) ? ms(text as ms.StringValue) : Number.NaN
    if (value >= span.min && value <= span.max) return value
    context.addIssue({ code: 'custom', message: 'no span in range' })
    return z.NEVER
  })
  const form = `a span from ${ms(span.min)} to ${ms(span.max)}, such as "${span.default}"`
  return { schema, default: span.default, purpose: span.purpose, form }
}

export interface NumberRange {
  default: string
  purpose: string
  min: number
  max: number
}

/** Returns a setting of a number in a range. */
export function numberSetting(range: NumberRange): Setting<number> {
  const number = z.number().min(range.min).max(range.max)
  const schema = z
    .string()
    .regex(/^\d+(\.\d+)?$/)
    .transform(Number)
    .pipe(number)
  const form = `a number from ${range.min} to ${range.max}`
  return { schema, default: range.default, purpose: range.purpose, form }
}

/** Returns a setting of a number in a range, or `off` (undefined as a value). */
export function thresholdSetting(range: NumberRange): Setting<number | undefined> {
  const setting = numberSetting(range)
  const schema = z.union([z.literal('off').transform(() => undefined), setting.schema])
  return { ...setting, schema, form: `${setting.form}, or "off"` }
}

/** Returns a setting of a text that matches `pattern`; undefined if it is not set. */
export function textSetting({
  pattern,
  ...about
}: {
  purpose: string
  form: string
  where?: string
  pattern: RegExp
}): Setting<string | undefined> {
  return { ...about, schema: z.string().regex(pattern), default: undefined }
}

/** Reads the text of a variable, or of the file that its `NAME_FILE` twin names; empty counts as unset. */
export function readRaw(name: string, environment: Environment): { text?: string; problem?: string } {
  const text = environment[name]
  const file = environment[`${name}_FILE`]
  if (!file) return text ? { text } : {}
  if (text) return { problem: `${name} and ${name}_FILE are both set; unset one of them.` }
  try {
    return { text: readFileSync(file, 'utf8').trim() }
  } catch (error) {
    return { problem: `${name}_FILE cannot be read: ${describeError(error)}` }
  }
}

/** Describes a setting's form, its purpose, and where its value is found, as sentences. */
export function describeSetting(setting: Setting<unknown>): string {
  const fallback = setting.default === undefined ? '' : `; default ${setting.default}`
  const where = setting.where === undefined ? '' : ` Where to find it: ${setting.where}.`
  return `it must be ${setting.form}. It sets ${setting.purpose}${fallback}.${where}`
}
