import { isObject } from '../../core/forwarding.ts'
import type { AssistantMessage, Thinking } from '../../core/model.ts'
import type { Form } from './form.ts'

/**
 * Google's documented stand-in for a missing signature
 * (https://ai.google.dev/gemini-api/docs/thought-signatures).
 */
const NO_SIGNATURE = 'skip_thought_signature_validator'

/**
 * Returns a message's thoughts that go back. Another family's never do: no other model can use them, and most
 * refuse them.
 */
export function toThinking(message: AssistantMessage, form: Form): Thinking | undefined {
  const { thinking, calls } = message
  const { family, history } = form
  const isBack = history.reasoning === 'all' || (history.reasoning === 'calls' && calls.length > 0)
  const own = isBack && thinking?.by === family ? thinking : undefined
  const isStale = history.foreignCall === 'gemini-details' && !fitsFirstCall(message)
  return (isStale ? undefined : own) ?? toStandIn(message, form)
}

/**
 * Tells whether the signature is the first call's: Gemini refuses signatures of other calls. OpenRouter sends
 * ids that are not the call's (https://github.com/UKGovernmentBEIS/inspect_ai/issues/3986), and a call whose
 * id was taken already has another one.
 */
function fitsFirstCall({ calls: [first], thinking }: AssistantMessage): boolean {
  const parts = Array.isArray(thinking?.parts) ? thinking.parts.filter(isObject) : []
  const signed = parts.filter(part => part['type'] === 'reasoning.encrypted')
  return !first || (signed.length === 1 && signed[0]?.['id'] === first.id)
}

function toStandIn({ calls }: AssistantMessage, { family, history }: Form): Thinking | undefined {
  const [first] = calls
  switch (history.foreignCall) {
    case 'nothing':
      return undefined
    case 'empty-reasoning':
      return first || history.reasoning === 'all' ? { by: family, text: '' } : undefined
    case 'gemini-placeholder': {
      // Gemini itself signs only the first of parallel calls.
      const extras = calls.map((_, at) => (at === 0 ? { google: { thought_signature: NO_SIGNATURE } } : null))
      return first && { by: family, text: '', extras }
    }
    case 'gemini-details': {
      // OpenRouter takes one entry, for the first call: https://github.com/RooCodeInc/Roo-Code/pull/10640
      const entry = { type: 'reasoning.encrypted', data: NO_SIGNATURE, format: 'google-gemini-v1', index: 0 }
      return first && { by: family, text: '', parts: [{ ...entry, id: first.id }] }
    }
    default:
      return history.foreignCall satisfies never
  }
}
