import type { CallToolResult, Tool as ListedTool } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { UNCONFIGURED } from '../../schemas/health.ts'
import { OWN_CHANNELS } from '../../schemas/power.ts'
import { wordsOf } from '../../schemas/problems.ts'
import { WHOLE_TEXT } from '../../schemas/text-readers.ts'
import { toInputSchema } from '../../schemas/tool-input.ts'
import type { Clock } from './clock.ts'
import { timeoutSignal, unlessAborted } from './clock.ts'
import { type Failure, ToolFailure, toFailure, toFailureText } from './failure.ts'
import { FOREIGN_LINE, FOREIGN_META, FOREIGN_NOTE, isForeign } from './foreign.ts'
import type { Log } from './log.ts'
import { createReporting, type ProgressNote, type Report } from './progress.ts'
import { type Text, toLines } from './render.ts'
import { cleanText } from './text.ts'

const DEFAULT_LIMIT = 30_000
const MAX_ISSUES = 5

/** Hints by which clients decide what needs a person. All must be true statements. */
interface Annotations {
  readOnlyHint: boolean
  destructiveHint: boolean
  idempotentHint: boolean
  /** True if the tool reaches beyond what this server manages, such as the web. */
  openWorldHint: boolean
}

export interface ToolSpec<Input extends z.ZodObject, Output extends z.ZodObject> {
  name: string
  title: string
  /** Text for a model: when to use the tool, what it returns, what it costs. */
  description: string
  annotations: Annotations
  /** True if it sends to nobody but those whom the operator configured. */
  reachesOwnChannels?: true
  /** Schema of the arguments; make it with `z.strictObject`, so that a mistyped argument is named. */
  input: Input
  output: Output
  /** Milliseconds until the call fails, or a function of the input; default 30 s. */
  limit?: number | ((input: z.output<Input>) => number)
  /**
   * Does the work; throws ToolFailure (or anything) to fail. `signal` aborts when the client cancels or the
   * limit passes. `report` sends progress.
   */
  run(
    input: z.output<Input>,
    signal: AbortSignal,
    report: Report,
    request: ToolRequest,
  ): Promise<ToolOutcome<DataOf<Output>>>
}

/** The data that fits a schema of an output; its lists and objects may be read-only. */
export type DataOf<Output extends z.ZodType> = Given<z.input<Output>>
type Given<Data> = Data extends readonly (infer Item)[]
  ? readonly Given<Item>[]
  : Data extends object
    ? { readonly [Key in keyof Data]: Given<Data[Key]> }
    : Data

/** The parts of a call's request besides its arguments. */
export interface ToolRequest {
  /** A key that identifies the call: a client repeats it if it does not know how the first attempt ended. */
  idempotencyKey?: string | undefined
  /** True if a text from outside began the work that the call is part of. */
  isForeign?: boolean | undefined
  /** The request's `_meta`. */
  meta?: Readonly<Record<string, unknown>> | undefined
}

export interface Image {
  /** Base64. */
  data: string
  /** "image/png". */
  mimeType: string
}

export interface ToolOutcome<Data> {
  /** Fields that are undefined are left out. */
  data: Data
  /**
   * Short form for a person: no JSON, no bare ids, bytes with units, times with a zone. A function gets the
   * data as the output schema cleaned them.
   */
  text: Text | ((data: Data) => Text)
  images?: readonly Image[] | undefined
  /**
   * True if the outcome shows foreign text; default: whether the output schema has fields of `foreignText` or
   * `foreignLines`.
   */
  untrusted?: boolean | undefined
}

interface CallContext extends ToolRequest {
  clock: Clock
  log: Log
  signal: AbortSignal
  /** Sends one progress notification, and never rejects; undefined if the client did not request any. */
  progress?: ((note: ProgressNote) => Promise<void>) | undefined
}

/** A tool as the protocol serves it. `call` never rejects: a failure is a result with `isError`. */
export interface Tool {
  readonly listed: ListedTool
  call(args: unknown, context: CallContext): Promise<CallToolResult>
}

export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  spec: ToolSpec<Input, Output>,
): Tool {
  const { name, title, description, annotations } = spec
  const output = toOutputSchema(spec.output)
  const listed = {
    name,
    title,
    description,
    annotations: { title, ...annotations },
    inputSchema: { ...toInputSchema(spec.input), type: 'object' as const },
    outputSchema: output.json,
    _meta: { [WHOLE_TEXT]: true, ...(spec.reachesOwnChannels ? { [OWN_CHANNELS]: true } : {}) },
  }
  const call: Tool['call'] = (args, context) =>
    callTool(spec, output.foreign, args, context).catch(error => toErrorResult(toFailure(error, name)))
  return { listed, call }
}

async function callTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  spec: ToolSpec<Input, Output>,
  foreign: boolean,
  args: unknown,
  context: CallContext,
): Promise<CallToolResult> {
  const given = spec.input.safeParse(args ?? {})
  // Models write null for an optional argument that they omit.
  const input = given.success ? given : spec.input.safeParse(dropFields(args ?? {}, null))
  if (!input.success) return toErrorResult(toArgumentFailure(spec, input.error, args ?? {}))
  const span = typeof spec.limit === 'function' ? spec.limit(input.data) : spec.limit
  const limit = timeoutSignal(context.clock, span ?? DEFAULT_LIMIT)
  const signal = AbortSignal.any([context.signal, limit.signal])
  const { idempotencyKey, isForeign, meta, progress, clock } = context
  const { report, finish } = createReporting(progress, clock)
  try {
    const outcome = await unlessAborted(
      spec.run(input.data, signal, report, { idempotencyKey, isForeign, meta }),
      signal,
    )
    return toResult(outcome, parseOutput(spec, outcome.data), outcome.untrusted ?? foreign)
  } catch (error) {
    if (!context.signal.aborted) context.log('warn', 'tool failed', { tool: spec.name, error })
    const failed = toErrorResult(toFailure(error, spec.name))
    return foreign ? { ...failed, _meta: { ...failed._meta, ...FOREIGN_META } } : failed
  } finally {
    limit.cancel()
    await finish()
  }
}

/** Returns the value without those of its fields, at any depth, that are `absent`. */
function dropFields(value: unknown, absent: null | undefined): unknown {
  if (Array.isArray(value)) return value.map(item => dropFields(item, absent))
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).filter(([, field]) => field !== absent)
  return Object.fromEntries(fields.map(([key, field]) => [key, dropFields(field, absent)]))
}

function toResult<Data>(
  { text, images = [] }: ToolOutcome<Data>,
  data: Data & Record<string, unknown>,
  untrusted: boolean,
): CallToolResult {
  const lines = [typeof text === 'function' ? text(data) : text, untrusted && FOREIGN_LINE]
  return {
    structuredContent: data,
    content: [
      { type: 'text', text: toLines(lines) },
      ...images.map(({ data, mimeType }) => ({ type: 'image' as const, data, mimeType })),
    ],
    ...(untrusted ? { _meta: FOREIGN_META } : {}),
  }
}

/**
 * Throws a ToolFailure if an upstream's answer led to values that the output does not allow, such as half a
 * film.
 */
function parseOutput<Data>(spec: { name: string; output: z.ZodObject }, data: Data) {
  const parsed = spec.output.safeParse(data)
  if (parsed.success) return dropFields(parsed.data, undefined) as Data & Record<string, unknown>
  const issues = toIssues(parsed.error)
  throw new ToolFailure(
    {
      what: `${spec.name} could not tell what it found.`,
      where: issues.map(({ path }) => path).join(', '),
      why: issues.map(({ path, message }) => `${path}: ${message}`).join('; '),
      fix: 'What it asks gave values that make no sense: look there, or ask for less at a time.',
    },
    { cause: parsed.error },
  )
}

function toErrorResult(failure: Failure): CallToolResult {
  return {
    isError: true,
    content: [{ type: 'text', text: toFailureText(failure) }],
    ...(failure.isUnconfigured ? { _meta: { [UNCONFIGURED]: true } } : {}),
  }
}

function toArgumentFailure(
  spec: { name: string; input: z.ZodObject },
  error: z.ZodError,
  args: unknown,
): Failure {
  const issues = toIssues(error, args)
  const names = Object.keys(spec.input.shape)
  return {
    what: `The arguments of ${spec.name} do not fit; it did not run.`,
    where: issues.map(({ path }) => path).join(', '),
    why: issues.map(({ path, message }) => `${path}: ${message}`).join('; '),
    fix:
      names.length > 0 ? `Call it again; it takes ${names.join(', ')}.` : 'Call it again without arguments.',
  }
}

/** Lists the issues of an error; with `given`, an issue about a missing value says so. */
function toIssues(error: z.ZodError, given?: unknown): { path: string; message: string }[] {
  return error.issues.slice(0, MAX_ISSUES).map(issue => {
    const words = wordsOf(issue.message)
    const isMissing = given !== undefined && issue.path.length > 0 && findAt(given, issue.path) === undefined
    return {
      path: cleanText(issue.path.map(String).join('.') || 'arguments', 60),
      message: cleanText(isMissing && !words.startsWith('is missing') ? `is missing (${words})` : words),
    }
  })
}

function findAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key], value)
}

/**
 * Converts the output schema to JSON Schema. It omits `$schema`: 2020-12 is the protocol's default, and
 * validators of old clients fail on the key. It omits the bounds of JavaScript's safe integers, which tell a
 * model nothing. `foreign` says whether a field holds foreign text.
 */
function toOutputSchema(schema: z.ZodObject) {
  let foreign = false
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io: 'output',
    override({ zodSchema, jsonSchema }) {
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
      if (!isForeign(zodSchema)) return
      foreign = true
      const about = jsonSchema.description
      if (about?.endsWith(FOREIGN_NOTE)) return
      jsonSchema.description = about === undefined ? FOREIGN_NOTE : `${about}; ${FOREIGN_NOTE}`
    },
  })
  return { json: { ...json, type: 'object' } as ListedTool['inputSchema'], foreign }
}
