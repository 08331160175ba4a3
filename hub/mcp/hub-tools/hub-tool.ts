import { z } from 'zod'
import { describeProblems } from '../../../schemas/problems.ts'
import { HubError } from '../../core/errors.ts'
import { dropNulls } from '../../core/json.ts'

/** Who calls a tool of the hub, and how to reach them meanwhile. */
export interface HubToolContext {
  /** The token's name. */
  token: string
  signal: AbortSignal
  /** Does nothing where the client did not ask for progress. */
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
  /** Throws `invalid_arguments` and what the tool's own work throws. */
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
  /** A short text for a person; default the structured result as JSON. */
  toText?(result: z.input<Output>): string
}

/** Makes a tool whose arguments are checked; what is wrong is named. */
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
    async run(args, context) {
      const given = tool.input.safeParse(args ?? {})
      const parsed = given.success ? given : tool.input.safeParse(dropNulls(args ?? {}))
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

/** A list of types becomes a choice of schemas: clients that map tools onto OpenAPI's subset refuse a list. */
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
