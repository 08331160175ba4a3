import { hash } from 'node:crypto'
import type { HistoryForm } from './form.ts'

/**
 * Returns a function that names the calls of one history in the provider's form, each once. The same calls
 * get the same ids in every request: an id depends on the call's own and on those of calls before it that
 * share it.
 */
export function createCallIds(form: HistoryForm['callIds']): (id: string) => string {
  const taken = new Set<string>()
  return id => {
    let sent = toSentId(id, form)
    for (let again = 2; taken.has(sent); again++) sent = toSentId(`${id}_${again}`, form)
    taken.add(sent)
    return sent
  }
}

function toSentId(id: string, form: HistoryForm['callIds']): string {
  switch (form) {
    case 'any':
      return id || 'call'
    case 'plain':
      return /^[A-Za-z0-9_-]{1,40}$/.test(id) ? id : shorten(id, 40)
    case 'nine':
      if (/^[A-Za-z0-9]{9}$/.test(id)) return id
      return hash('sha256', id, 'base64')
        .replace(/[^A-Za-z0-9]/g, '')
        .slice(0, 9)
    default:
      return form satisfies never
  }
}

const HASH_LENGTH = 8

/** Returns a text as letters, digits, `_` and `-`, with a hash that keeps it apart from similar texts. */
export function shorten(text: string, longest: number): string {
  const plain = text.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, longest - HASH_LENGTH - 1)
  return `${plain}_${hash('sha256', text).slice(0, HASH_LENGTH)}`
}

/** Names that every provider takes. Gemini's alphabet is the narrowest: no digit and no `-` in front. */
const ACCEPTED = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/

/** Returns a tool's name as every provider takes it. The same name gives the same bytes in a history. */
export function toSentName(name: string): string {
  if (ACCEPTED.test(name)) return name
  return shorten(/^[A-Za-z_]/.test(name) ? name : `_${name}`, 64)
}
