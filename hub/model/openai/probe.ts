import { describeError } from '../../core/errors.ts'
import { parseJson } from '../../core/json.ts'
import { type Model, ModelError, type ModelReply, type ModelRequest } from '../../core/model.ts'
import { truncate } from '../../core/text.ts'

export type ToolProbe = { ok: true } | { ok: false; why: string }

const TOOL = 'report_number'
const SHOWN = 120

/**
 * Whether a model can call tools, found out by one small request. Throws only the signal's reason; what the provider
 * refuses or breaks is the `why`, in words for a person.
 */
export async function probeTools(model: Model, { signal }: { signal: AbortSignal }): Promise<ToolProbe> {
  try {
    return decideProbe(await model.complete(toRequest(model), { signal, onText: () => undefined }))
  } catch (error) {
    if (signal.aborted || !(error instanceof ModelError)) throw error
    const hint = error.kind === 'rejected' ? 'It may know no tools, or not this model: ' : ''
    return { ok: false, why: hint + describeError(error) }
  }
}

function toRequest(model: Model): ModelRequest {
  return {
    system: 'You are asked to prove that you can call tools.',
    messages: [
      { role: 'user', text: `Call the tool ${TOOL} with the value 7. Say nothing else.`, items: [] },
    ],
    tools: [
      {
        name: TOOL,
        description: 'Reports one number.',
        inputSchema: {
          type: 'object',
          properties: { value: { type: 'number', description: 'The number to report' } },
          required: ['value'],
        },
        readOnly: true,
      },
    ],
    maxOutput: model.maxOutput,
    timezone: 'UTC',
    now: 0,
  }
}

function decideProbe({ calls, text, truncated }: ModelReply): ToolProbe {
  const call = calls[0]
  if (!call) {
    if (truncated) return { ok: false, why: 'Its reply was cut before it called the tool: raise maxOutput.' }
    return { ok: false, why: `It answered with text in place of a call: "${truncate(text, SHOWN)}"` }
  }
  if (call.name !== TOOL)
    return { ok: false, why: `It called "${truncate(call.name, SHOWN)}", which it was not offered.` }
  const value = parseJson(call.arguments)
  if (value === undefined) {
    return { ok: false, why: `The arguments of its call are no JSON: ${truncate(call.arguments, SHOWN)}` }
  }
  const fits =
    typeof value === 'object' && value !== null && 'value' in value && typeof value.value === 'number'
  if (fits) return { ok: true }
  return {
    ok: false,
    why: `The arguments of its call do not fit the tool: ${truncate(call.arguments, SHOWN)}`,
  }
}
