import { runInNewContext } from 'node:vm'
import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/server/validators/cf-worker'
import { z } from 'zod'
import { describeError } from './errors.ts'
import { isObject, type JsonObject } from './forwarding.ts'
import { atPointer, parseJson } from './json.ts'
import { isBlank, truncate } from './text.ts'

const LONGEST_SCHEMA = 8 * 1024
/** Limits one check: a pattern, or references to references, can make a schema's own check take for ever. */
const LONGEST_CHECK_MS = 250
const LONGEST_PROBLEM = 1_500

/** Checks the JSON schema of the object that a caller wants as an answer. */
export const answerSchema = z.record(z.string(), z.unknown()).superRefine((schema, context) => {
  const message = findSchemaProblem(schema)
  if (message !== undefined) context.addIssue({ code: 'custom', message })
})

export type Answer = { kind: 'fits'; value: JsonObject } | { kind: 'misfit'; problem: string }

/** Reads the JSON of a reply, alone or in a code fence, and checks it against the schema. */
export function readAnswer(schema: JsonObject, text: string): Answer {
  if (isBlank(text)) return { kind: 'misfit', problem: 'it is empty' }
  const whole = parseJson(text)
  const value = whole === undefined ? parseJson(FENCED.exec(text)?.[1] ?? '') : whole
  return value === undefined ? { kind: 'misfit', problem: 'it is not JSON' } : checkAnswer(schema, value)
}

/** The pattern is greedy because the JSON's own texts may hold fences. */
const FENCED = /```(?:json)?[^\S\n]*\n([\s\S]*)\n\s*```/i

/** Checks a value against the schema. Takes at most `LONGEST_CHECK_MS`. */
export function checkAnswer(schema: JsonObject, value: unknown): Answer {
  if (!isObject(value)) return { kind: 'misfit', problem: 'it is not a JSON object' }
  const validate = () => new CfWorkerJsonSchemaValidator({ shortcircuit: false }).getValidator(schema)(value)
  try {
    const { errorMessage } = withinTime(validate)
    if (errorMessage === undefined) return { kind: 'fits', value }
    return { kind: 'misfit', problem: truncate(describeErrors(errorMessage), LONGEST_PROBLEM) }
  } catch (error) {
    return { kind: 'misfit', problem: `the schema cannot be checked (${firstLine(error)})` }
  }
}

/** Runs `run` in a context of its own: only a context's timeout can end it. */
function withinTime<Result>(run: () => Result): Result {
  return runInNewContext('run()', { run }, { timeout: LONGEST_CHECK_MS }) as Result
}

/** Matches errors that only say that a part has errors. */
const OUTER = /(?:(?:does|did) not match (?:additional properties )?schema|A subschema had errors)\.$/
const FORBIDDEN = ': False boolean schema.'

/**
 * Returns the validator's errors without those that only repeat others. `message` lists all with their
 * places.
 */
function describeErrors(message: string): string {
  const errors = message.split(/; (?=#)/).filter(each => !OUTER.test(each))
  const told = errors.flatMap(each => {
    if (!each.endsWith(FORBIDDEN)) return each
    const place = each.slice(0, -FORBIDDEN.length)
    // A property with an error of its own is also reported as an additional one.
    const hasOther = errors.some(
      other => other.startsWith(`${place}/`) || (other !== each && other.startsWith(`${place}:`)),
    )
    return hasOther ? [] : `${place}: is not in the schema`
  })
  return told.join(' ') || message
}

/** Returns why answers cannot be checked against the schema; undefined where they can. */
function findSchemaProblem(schema: JsonObject): string | undefined {
  const bytes = Buffer.byteLength(JSON.stringify(schema))
  if (bytes > LONGEST_SCHEMA) return `has at most ${LONGEST_SCHEMA} bytes (${bytes} given)`
  if (schema['type'] !== 'object') return 'is the JSON schema of an object: "type": "object" at its top'
  const reference = referencesOf(schema).find(each => atPointer(schema, each) === undefined)
  if (reference !== undefined)
    return `refers to ${reference}: only references to its own parts (#/…) are followed`
  const validate = () => new CfWorkerJsonSchemaValidator().getValidator(schema)({})
  try {
    withinTime(validate)
    return undefined
  } catch (error) {
    return `is no JSON schema that can be checked (${firstLine(error)})`
  }
}

const REFERENCES = ['$ref', '$dynamicRef', '$recursiveRef']

function referencesOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(referencesOf)
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    REFERENCES.includes(key) && typeof inner === 'string' ? [inner] : referencesOf(inner),
  )
}

/** Returns the schema as a part of another one at `place`, with its references starting from there. */
export function placeSchema(schema: JsonObject, place: string): JsonObject {
  const { $schema: _, $id: __, ...rest } = schema
  return moveReferences(rest, place) as JsonObject
}

function moveReferences(value: unknown, place: string): unknown {
  if (Array.isArray(value)) return value.map(each => moveReferences(each, place))
  if (!isObject(value)) return value
  const entries = Object.entries(value).map(([key, inner]) =>
    key === '$ref' && typeof inner === 'string'
      ? [key, `${place}${inner.slice(1)}`]
      : [key, moveReferences(inner, place)],
  )
  return Object.fromEntries(entries)
}

function firstLine(error: unknown): string {
  return describeError(error).split('\n')[0] ?? ''
}
