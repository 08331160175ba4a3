import type { CallToolResult, Tool as ListedTool } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { Clock } from './clock.ts'
import { timeoutSignal, unlessAborted } from './clock.ts'
import { type Failure, toFailure, toFailureText } from './failure.ts'
import type { Log } from './log.ts'
import { cleanText } from './text.ts'

const DEFAULT_LIMIT = 30_000
const MAX_ISSUES = 5

/** What a tool says about itself to clients: they decide by it what needs a person. All must be true statements. */
interface Annotations {
  readOnlyHint: boolean
  destructiveHint: boolean
  idempotentHint: boolean
  /** True where it reaches beyond what this server looks after, such as the web. */
  openWorldHint: boolean
}

export interface ToolSpec<Input extends z.ZodObject, Output extends z.ZodObject> {
  name: string
  title: string
  /** For a model: when to use it, what it gives, what it costs. */
  description: string
  annotations: Annotations
  /** Make it with `z.strictObject`, so that a mistyped argument is named. */
  input: Input
  output: Output
  /** Milliseconds until the call fails; default 30 s. */
  limit?: number
  /**
   * Does the work; throws ToolFailure (or anything) to fail. `signal` aborts when the client cancels or the
   * limit passes. `text` is the short form for a person.
   */
  run(input: z.output<Input>, signal: AbortSignal): Promise<{ data: z.input<Output>; text: string }>
}

interface CallContext {
  clock: Clock
  log: Log
  signal: AbortSignal
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
  const listed = {
    name,
    title,
    description,
    annotations: { title, ...annotations },
    inputSchema: toJsonSchema(spec.input, 'input'),
    outputSchema: toJsonSchema(spec.output, 'output'),
  }
  return { listed, call: (args, context) => callTool(spec, args, context) }
}

async function callTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  spec: ToolSpec<Input, Output>,
  args: unknown,
  context: CallContext,
): Promise<CallToolResult> {
  const input = spec.input.safeParse(args ?? {})
  if (!input.success) return toErrorResult(toArgumentFailure(spec, input.error))
  const limit = timeoutSignal(context.clock, spec.limit ?? DEFAULT_LIMIT)
  const signal = AbortSignal.any([context.signal, limit.signal])
  try {
    const { data, text } = await unlessAborted(spec.run(input.data, signal), signal)
    return { structuredContent: spec.output.parse(data), content: [{ type: 'text', text }] }
  } catch (error) {
    if (!context.signal.aborted) context.log('warn', 'tool failed', { tool: spec.name, error })
    return toErrorResult(toFailure(error, spec.name))
  } finally {
    limit.cancel()
  }
}

function toErrorResult(failure: Failure): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: toFailureText(failure) }] }
}

function toArgumentFailure(spec: { name: string; input: z.ZodObject }, error: z.ZodError): Failure {
  const issues = error.issues.slice(0, MAX_ISSUES).map(issue => {
    const path = issue.path.map(String).join('.') || 'arguments'
    return `${cleanText(path, 60)}: ${cleanText(issue.message)}`
  })
  const names = Object.keys(spec.input.shape)
  return {
    what: `The arguments of ${spec.name} do not fit; it did not run.`,
    where: issues.map(issue => issue.split(':', 1)[0]).join(', '),
    why: issues.join('; '),
    fix:
      names.length > 0 ? `Call it again; it takes ${names.join(', ')}.` : 'Call it again without arguments.',
  }
}

/**
 * Without `$schema`: 2020-12 is the protocol's default, and validators of old clients stumble over the key. Without
 * the bounds of whole numbers that JavaScript can hold: they tell a model nothing, at every integer.
 */
function toJsonSchema(schema: z.ZodObject, io: 'input' | 'output'): ListedTool['inputSchema'] {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io,
    override({ jsonSchema }) {
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
    },
  })
  return { ...json, type: 'object' } as ListedTool['inputSchema']
}
