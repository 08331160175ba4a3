import { z } from 'zod'
import { describeProblems } from '../../../schemas/problems.ts'
import type { TraceContext } from '../../../schemas/trace.ts'
import { HubError } from '../../core/errors.ts'
import { dropNulls, parseJson, withoutNul } from '../../core/json.ts'
import type { Principal, Right } from '../../core/principal.ts'
import type { HubToolDeps } from './deps.ts'

export interface HubToolContext {
  deps: HubToolDeps
  /** Who calls. */
  principal: Principal
  signal: AbortSignal
  /** Trace that the call belongs to. */
  trace?: TraceContext | undefined
  /** Reports progress; does nothing if the client did not ask for it. */
  progress(message: string): void
}

/** One of the hub's own tools. `run` throws `invalid_arguments` and what the tool's own work throws. */
export type HubTool = ReturnType<typeof defineHubTool>

export interface HubToolDefinition<Input extends z.ZodType, Output extends z.ZodObject> {
  name: string
  title: string
  description: string
  input: Input
  output: Output
  effect: 'reads' | 'adds' | 'removes'
  /** Right that a caller needs. */
  right: Right
  run(args: z.output<Input>, context: HubToolContext): Promise<z.input<Output>>
  /** Returns a short text for a person. */
  toText(result: z.input<Output>, context: HubToolContext): string
}

/** Makes a tool whose arguments are checked; the error names what is wrong. */
export function defineHubTool<Input extends z.ZodType, Output extends z.ZodObject>(
  tool: HubToolDefinition<Input, Output>,
) {
  const { name, title, description, input, output, effect, right } = tool
  return {
    right,
    definition: {
      name,
      title,
      description,
      inputSchema: toSchema(input, 'input'),
      outputSchema: toSchema(output, 'output'),
      annotations: {
        readOnlyHint: effect === 'reads',
        destructiveHint: effect === 'removes',
        idempotentHint: effect !== 'adds',
        openWorldHint: false,
      },
    },
    async run(asked: unknown, context: HubToolContext) {
      const args = withoutNul(asked ?? {})
      const given = input.safeParse(args)
      const parsed = given.success ? given : input.safeParse(dropNulls(args))
      if (!parsed.success)
        throw new HubError('invalid_arguments', `${name}: ${describeProblems(parsed.error, 'arguments')}`)
      const result = await tool.run(parsed.data, context)
      return { structured: result as Record<string, unknown>, text: tool.toText(result, context) }
    },
  }
}

/**
 * Returns a row as clients see it, for a schema to pick from: names in camel case, `x_id` as `x`, `x_json`
 * parsed as `x`, and nothing that is null.
 */
export function toView(row: object): Record<string, unknown> {
  const filled = Object.entries(row).filter(([, value]) => value !== null)
  return Object.fromEntries(
    filled.map(([column, value]) => [
      column.replace(/_(?:id|json)$/, '').replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
      column.endsWith('_json') ? parseJson(value) : value,
    ]),
  )
}

function toSchema(schema: z.ZodType, io: 'input' | 'output'): Record<string, unknown> {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io })
  return splitTypes(json) as Record<string, unknown>
}

/** Turns a list of types into a choice: clients that map tools onto OpenAPI's subset refuse a list. */
function splitTypes(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(splitTypes)
  if (typeof schema !== 'object' || schema === null) return schema
  const entries = Object.entries(schema).map(([key, value]) =>
    key === 'type' && Array.isArray(value)
      ? ['anyOf', value.map(type => ({ type }))]
      : [key, splitTypes(value)],
  )
  return Object.fromEntries(entries)
}
