import type { z } from 'zod'
import { describeProblems } from '../../schemas/problems.ts'
import { toInputSchema } from '../../schemas/tool-input.ts'
import { HubError } from '../core/errors.ts'
import type { JsonObject } from '../core/forwarding.ts'
import type { NewId } from '../core/ids.ts'
import { dropNulls } from '../core/json.ts'
import type { Signals } from '../core/signals.ts'
import type { ToolAccess } from '../core/tool-access.ts'
import type { CallContext, ToolOutcome } from '../core/tool-box.ts'
import type { Tx } from '../store/writer.ts'

/** The parts that meta-tools use besides the transaction that they run in. */
export interface MetaDeps {
  newId: NewId
  signals: Signals
  /** Returns the agents that a conversation belongs to; none if there is no such conversation. */
  agentsOf(conversation: string): string[]
  /** Returns an agent; undefined if its file is gone. */
  agent(name: string): { conversations: readonly string[]; limits: { tasks: number } } | undefined
}

/** A tool with which an agent controls itself. */
export interface MetaTool {
  name: string
  title: string
  description: string
  inputSchema: Record<string, unknown>
  readOnly: boolean
  /** True if it also runs in work that a guest began: it shows and changes nothing of others. */
  forGuests: boolean
  /** True if it ends the cycle after all calls of its step. */
  ends: boolean
  run(tx: Tx, args: Record<string, unknown>, context: CallContext): Promise<ToolOutcome>
  /** Returns the tool for a task whose result must fit this JSON schema. */
  withResult?(schema: JsonObject): MetaTool
}

type Definition<Input extends z.ZodType> = Pick<MetaTool, 'name' | 'title' | 'description'> &
  Partial<Pick<MetaTool, 'readOnly' | 'forGuests' | 'ends' | 'withResult'>> & {
    input: Input
    run(tx: Tx, args: z.output<Input>, context: CallContext, deps: MetaDeps): Promise<ToolOutcome>
  }

/** Makes a meta-tool whose arguments are checked; wrong ones become a result that names them. */
export function defineMetaTool<Input extends z.ZodType>({ input, run, ...rest }: Definition<Input>) {
  return (deps: MetaDeps): MetaTool => ({
    readOnly: false,
    forGuests: false,
    ends: false,
    ...rest,
    inputSchema: toInputSchema(input),
    async run(tx, args, context) {
      if (context.power === 'guest' && !rest.forGuests)
        return refused(`${rest.name}: a guest began this work, and guests may not use it`)
      const parsed = input.safeParse(args)
      const fitting = parsed.success ? parsed : input.safeParse(dropNulls(args))
      if (!fitting.success)
        return refused(`${rest.name}: wrong arguments: ${describeProblems(fitting.error, 'arguments')}`)
      try {
        return await run(tx, fitting.data, context, deps)
      } catch (error) {
        if (error instanceof HubError) return refused(`${rest.name}: ${error.message}`)
        throw error
      }
    },
  })
}

/** Returns a meta-tool in the form for an agent or one of its tasks. */
export function fitTool(tool: MetaTool, access: ToolAccess): MetaTool {
  const schema = 'task' in access ? access.result : undefined
  return (schema && tool.withResult?.(schema)) ?? tool
}

/** Returns a result; `isForeign` says that it shows text that comes from outside. */
export function done(text: string, structured: unknown, isForeign = false): ToolOutcome {
  return { text, isError: false, structured, ...(isForeign ? { foreign: true } : {}) }
}

export function refused(text: string): ToolOutcome {
  return { text, isError: true }
}
