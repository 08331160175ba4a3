import { readFileSync } from 'node:fs'
import ms from 'ms'
import { z } from 'zod'
import { describeError } from './log.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** One setting: how its text is read, what it is for and what form it has, for messages and for the README. */
export interface Setting<Value> {
  readonly schema: z.ZodType<Value, string>
  /** The text that stands for an unset variable; undefined where the setting may be missing. */
  readonly default: string | undefined
  readonly purpose: string
  readonly form: string
  /** Where a person finds the value: "Radarr: Settings > General". */
  readonly where?: string | undefined
  /** Its value is shown in no message. */
  readonly secret?: boolean
  /** Missing is a problem. Made by `required`. */
  readonly required?: boolean
}

export type SettingsTable = Readonly<Record<string, Setting<unknown>>>
export type SettingsOf<Table extends SettingsTable> = {
  readonly [Name in keyof Table]: Table[Name] extends Setting<infer Value> ? Value : never
}

/** Wrong settings: the message names each with what it is for and the form that it must have. */
export class SettingsError extends Error {
  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.name = 'SettingsError'
  }
}

/** The environment of this process. Read it once, at the start. */
export function systemEnvironment(): Environment {
  return process.env
}

/**
 * The settings of a table by name, frozen. An empty variable counts as unset; `NAME_FILE` names a file that
 * holds the value of `NAME` (for secrets). Throws SettingsError with everything that is wrong at once.
 */
export function readSettings<const Table extends SettingsTable>(
  table: Table,
  environment: Environment,
): SettingsOf<Table> {
  const problems: string[] = []
  const entries = Object.entries(table).map(([name, setting]) => {
    const raw = readRaw(name, environment)
    if (raw.problem !== undefined) problems.push(raw.problem)
    const read = readSetting(name, setting, raw.text)
    if (read.problem !== undefined && raw.problem === undefined) problems.push(read.problem)
    return [name, read.value]
  })
  if (problems.length > 0) throw new SettingsError(problems)
  return Object.freeze(Object.fromEntries(entries)) as SettingsOf<Table>
}

/** One setting's value from its text, or what is wrong with it. A secret's text is in no message. */
export function readSetting(
  name: string,
  setting: Setting<unknown>,
  given: string | undefined,
): { value?: unknown; problem?: string } {
  const text = given ?? setting.default
  if (text === undefined) {
    return setting.required ? { problem: `${name} is not set: ${describeSetting(setting)}` } : {}
  }
  const parsed = setting.schema.safeParse(text)
  if (parsed.success) return { value: parsed.data }
  const shown = setting.secret ? 'set to something else' : JSON.stringify(text)
  return { problem: `${name} is ${shown}, but ${describeSetting(setting)}` }
}

/** Milliseconds, written as a span: "15s", "2m", "0". At most `max`, at least `min`. */
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

/** A number in a range. */
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

/** A number in a range, or `off` (undefined as a value). */
export function thresholdSetting(range: NumberRange): Setting<number | undefined> {
  const setting = numberSetting(range)
  const schema = z.union([z.literal('off').transform(() => undefined), setting.schema])
  return { ...setting, schema, form: `${setting.form}, or "off"` }
}

/** Any text; undefined where it is not set. */
export function textSetting(text: {
  purpose: string
  form: string
  pattern: RegExp
}): Setting<string | undefined> {
  return {
    schema: z.string().regex(text.pattern),
    default: undefined,
    purpose: text.purpose,
    form: text.form,
  }
}

/** The text of a variable, or of the file that its `NAME_FILE` twin names; empty counts as unset. */
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

/** What a setting must be, what it is for, and where its value is found, as sentences. */
export function describeSetting(setting: Setting<unknown>): string {
  const fallback = setting.default === undefined ? '' : `; default ${setting.default}`
  const where = setting.where === undefined ? '' : ` Where to find it: ${setting.where}.`
  return `it must be ${setting.form}. It sets ${setting.purpose}${fallback}.${where}`
}
