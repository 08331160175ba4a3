import type { Attributes } from '@opentelemetry/api'
import type { ModelMessage } from '../core/model.ts'
import type { EndedOperation, OperationKind, Operations } from '../core/telemetry.ts'

/*
 * Names and attributes of spans, as the semantic conventions for generative AI and for MCP name them
 * (open-telemetry/semantic-conventions-genai, in development). Texts are added only where the operator wants them.
 */

type Begun = { [Kind in OperationKind]: { kind: Kind } & Operations[Kind]['begin'] }[OperationKind]

export interface SpanStart {
  name: string
  kind: 'internal' | 'client' | 'server'
  attributes: Attributes
}

/** The provider of a model, under the name that the conventions have for it, and where it is asked. */
export interface ModelPlace {
  provider: string
  baseUrl?: string | undefined
}

/** Describes the start of an operation. */
export function toStart(begun: Begun, placeOf: (model: string) => ModelPlace): SpanStart {
  switch (begun.kind) {
    case 'message':
      return {
        name: 'post message',
        kind: 'internal',
        attributes: { 'gen_ai.conversation.id': begun.conversation },
      }
    case 'cycle':
      return {
        name: `invoke_agent ${begun.agent}`,
        kind: 'internal',
        attributes: {
          'gen_ai.operation.name': 'invoke_agent',
          'gen_ai.provider.name': 'superbloom',
          'gen_ai.agent.name': begun.agent,
          'gen_ai.conversation.id': begun.conversation ?? begun.thread,
          'superbloom.cycle': begun.cycle,
        },
      }
    case 'model': {
      const { provider, baseUrl } = placeOf(begun.model)
      return {
        name: `chat ${begun.model}`,
        kind: 'client',
        attributes: {
          'gen_ai.operation.name': 'chat',
          'gen_ai.provider.name': PROVIDERS[provider] ?? provider,
          'gen_ai.request.model': begun.model,
          'gen_ai.request.max_tokens': begun.request.maxOutput,
          'gen_ai.request.stream': true,
          'gen_ai.agent.name': begun.agent,
          ...toServer(baseUrl),
        },
      }
    }
    case 'tool': {
      const { tool, caller, call } = begun
      const ofTool = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': tool }
      return caller === 'agent'
        ? {
            name: `execute_tool ${tool}`,
            kind: 'internal',
            attributes: { ...ofTool, ...(call === undefined ? {} : { 'gen_ai.tool.call.id': call }) },
          }
        : {
            name: `tools/call ${tool}`,
            kind: 'server',
            attributes: { ...ofTool, 'mcp.method.name': 'tools/call' },
          }
    }
    default:
      return begun satisfies never
  }
}

/** Outcomes that are no error; of the others the outcome is the error's type. */
const NO_ERRORS = new Set(['ok', 'done', 'stopped', 'waiting', 'waits_for_provider', 'waits_for_budget'])

/** Describes the end of an operation; `error.type` is among the attributes if it failed. */
export function toEnd(ended: EndedOperation): Attributes {
  const { outcome } = ended
  return { 'superbloom.outcome': outcome, ...toError(ended), ...toFacts(ended) }
}

function toError({ kind, outcome }: EndedOperation): Attributes {
  if (NO_ERRORS.has(outcome)) return {}
  return { 'error.type': kind === 'tool' && outcome === 'error' ? 'tool_error' : outcome }
}

function toFacts(ended: EndedOperation): Attributes {
  if (ended.kind === 'cycle') return { 'superbloom.steps': ended.steps }
  if (ended.kind !== 'model') return {}
  const { model, spending, reply } = ended
  return {
    ...(spending && {
      'gen_ai.usage.input_tokens': spending.input,
      'gen_ai.usage.output_tokens': spending.output,
      'gen_ai.usage.cache_read.input_tokens': spending.cachedInput,
    }),
    ...(reply && {
      'gen_ai.response.model': reply.by?.name ?? model,
      'gen_ai.response.finish_reasons': [finishReason(reply)],
    }),
  }
}

function finishReason({ truncated, calls }: { truncated: boolean; calls: readonly unknown[] }): string {
  if (truncated) return 'length'
  return calls.length > 0 ? 'tool_call' : 'stop'
}

/** Returns the texts of an operation, for an operator who wants them in traces. */
export function toContent(ended: EndedOperation): Attributes {
  if (ended.kind === 'tool') {
    const { arguments: given, result } = ended
    return {
      'gen_ai.tool.call.arguments': typeof given === 'string' ? given : JSON.stringify(given),
      ...(result === undefined ? {} : { 'gen_ai.tool.call.result': result }),
    }
  }
  if (ended.kind !== 'model') return {}
  const { request, reply } = ended
  const answer = reply && {
    ...toMessage({ ...reply, role: 'assistant' }),
    finish_reason: finishReason(reply),
  }
  return {
    'gen_ai.system_instructions': JSON.stringify([{ type: 'text', content: request.system }]),
    'gen_ai.input.messages': JSON.stringify(request.messages.map(toMessage)),
    'gen_ai.tool.definitions': JSON.stringify(request.tools.map(({ name }) => ({ type: 'function', name }))),
    ...(answer && { 'gen_ai.output.messages': JSON.stringify([answer]) }),
  }
}

function toMessage(message: ModelMessage) {
  const text = message.text === '' ? [] : [{ type: 'text', content: message.text }]
  switch (message.role) {
    case 'user':
      return { role: message.role, parts: text }
    case 'assistant': {
      const calls = message.calls.map(({ id, name, arguments: given }) => ({
        type: 'tool_call',
        id,
        name,
        arguments: given,
      }))
      return { role: message.role, parts: [...text, ...calls] }
    }
    case 'tool':
      return {
        role: message.role,
        parts: [{ type: 'tool_call_response', id: message.callId, response: message.text }],
      }
    default:
      return message satisfies never
  }
}

/** Our names of providers, where the conventions have another; servers that speak OpenAI's API count as that. */
const PROVIDERS: Readonly<Record<string, string>> = {
  google: 'gcp.gemini',
  mistral: 'mistral_ai',
  compatible: 'openai',
}

function toServer(baseUrl: string | undefined): Attributes {
  const url = baseUrl === undefined ? null : URL.parse(baseUrl)
  if (!url) return {}
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
  return { 'server.address': url.hostname, 'server.port': port }
}
