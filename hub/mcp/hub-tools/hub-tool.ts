import { z } from 'zod'
import { describeProblems } from '../../../schemas/problems.ts'
import { HubError } from '../../core/errors.ts'
import { dropNulls, withoutNul } from '../../core/json.ts'

/** The caller of a hub tool, and the ways to reach it meanwhile. */
export interface HubToolContext {
  /** Name of the caller's token. */
  token: string
  signal: AbortSignal
  /** Reports progress; does nothing if the client did not ask for it. */
  progress(message: string): void
}

export interface HubToolAnnotations {
  readOnlyHint: boolean
  destructiveHint: boolean
  idempotentHint: boolean
  openWorldHint: boolean
}

/** One of the hub's own tools. */
export interface HubTool {
  definition: {
    name: string
    title: string
    description: string
    inputSchema: Record<string, unknown>
    outputSchema: Record<string, unknown>
    annotations: HubToolAnnotations
  }
  /** Runs the tool. Throws `invalid_arguments` and what the tool's own work throws. */
  run(args: unknown, context: HubToolContext): Promise<{ structured: Record<string, unknown>; text: string }>
}

export interface HubToolDefinition<Input extends z.ZodType, Output extends z.ZodObject> {
  name: string
  title: string
  description: string
  input: Input
  output: Output
  effect: 'reads' | 'adds' | 'removes'
  run(args: z.output<Input>, context: HubToolContext): Promise<z.input<Output>>
  /** Returns a short text for a person; default: the structured result as JSON. */
  toText?(result: z.input<Output>): string
}

/** Makes a tool whose arguments are checked; the error names what is wrong. */
export function defineHubTool<Input extends z.ZodType, Output extends z.ZodObject>(
  tool: HubToolDefinition<Input, Output>,
): HubTool {
  return {
    definition: {
      name: tool.name,
      title: tool.title,
      description: tool.description,
      inputSchema: toSchema(tool.input, 'input'),
      outputSchema: toSchema(tool.output, 'output'),
      annotations: {
        readOnlyHint: tool.effect === 'reads',
        destructiveHint: tool.effect === 'removes',
        idempotentHint: tool.effect !== 'adds',
        openWorldHint: false,
      },
    },
    async run(asked, context) {
      const args = withoutNul(asked ?? {})
      const given = tool.input.safeParse(args)
      const parsed = given.success ? given : tool.input.safeParse(dropNulls(args))
      if (!parsed.success) {
        throw new HubError(
          'invalid_arguments',
          `${tool.name}: ${describeProblems(parsed.error, 'arguments')}`,
        )
      }
      const result = await tool.run(parsed.data, context)
      const text = tool.toText?.(result) ?? JSON.stringify(result, undefined, 1)
      return { structured: result as Record<string, unknown>, text }
    },
  }
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
