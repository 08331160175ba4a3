import { parseJson } from '../../core/json.ts'
import type { ModelCall } from '../../core/model.ts'

/** A piece of a tool call in a streamed reply. Providers leave out, repeat and mistype every field of it. */
interface CallPiece {
  index?: unknown
  id?: unknown
  function?: { name?: unknown; arguments?: unknown } | null
}

interface OpenCall {
  /** The provider's, missing where it sent none. */
  id: string | undefined
  name: string
  arguments: string
}

interface CallAccumulator {
  /** Takes the `tool_calls` of one chunk, whatever it is. */
  push(pieces: unknown): void
  /** The calls in the order in which they began; arguments that never came are `{}`. */
  finish(): ModelCall[]
}

/**
 * Puts streamed tool calls together. `makeId` names the call at a position (from 0) whose provider sent no id.
 *
 * Which call a piece belongs to: a known id names its call; a new id with a name begins one, whatever its index
 * (Ollama sends 0 for all); else the index says it, else it is the current call. A piece that could only break the
 * call it would join (another name, or arguments after complete ones) begins a new call too.
 */
export function createCallAccumulator(makeId: (position: number) => string): CallAccumulator {
  const calls: OpenCall[] = []
  const byId = new Map<string, OpenCall>()
  const byIndex = new Map<number, OpenCall>()
  let current: OpenCall | undefined

  /** `previous` is the call of the piece before this one in the same chunk. */
  function find(piece: Piece, previous: OpenCall | undefined): OpenCall | undefined {
    const known = piece.id === undefined ? undefined : byId.get(piece.id)
    const there = known ?? (piece.index === undefined ? current : byIndex.get(piece.index))
    if (!there || known) return there
    if (piece.id !== undefined) return piece.name === undefined ? there : undefined
    const another = piece.index === undefined && piece.name !== undefined && there === previous
    return another ? undefined : there
  }

  function begin(id: string | undefined): OpenCall {
    const call = { id, name: '', arguments: '' }
    calls.push(call)
    return call
  }

  function take(piece: Piece, previous: OpenCall | undefined): OpenCall {
    const own = piece.id === undefined || byId.has(piece.id) ? undefined : piece.id
    const found = find(piece, previous)
    const call = found && !beginsAnother(found, piece) ? found : begin(own)
    call.id ??= own
    if (piece.id !== undefined) byId.set(piece.id, call)
    if (piece.index !== undefined) byIndex.set(piece.index, call)
    join(call, piece)
    return call
  }

  return {
    push(pieces) {
      if (!Array.isArray(pieces)) return
      let previous: OpenCall | undefined
      for (const raw of pieces) {
        const piece = toPiece(raw)
        if (!piece) continue
        current = take(piece, previous)
        previous = current
      }
    },
    finish: () =>
      calls
        .filter(call => call.name !== '' || call.arguments !== '')
        .map((call, position) => ({
          id: call.id ?? makeId(position),
          name: call.name,
          arguments: isBlank(call.arguments) ? '{}' : call.arguments,
        })),
  }
}

/** A piece whose fields are what they should be, or missing. */
interface Piece {
  id: string | undefined
  index: number | undefined
  name: string | undefined
  arguments: string
  /** The arguments came as an object, so they are all of them. */
  whole: boolean
}

function toPiece(raw: CallPiece | null | undefined): Piece | undefined {
  if (!raw || typeof raw !== 'object') return undefined
  const given = raw.function?.arguments
  const whole = typeof given === 'object' && given !== null
  return {
    id: toText(raw.id),
    index: typeof raw.index === 'number' ? raw.index : undefined,
    name: toText(raw.function?.name),
    arguments: whole ? JSON.stringify(given) : (toText(given) ?? ''),
    whole,
  }
}

function toText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function isBlank(text: string): boolean {
  return text.trim() === ''
}

/** Whether a named piece cannot be more of `call`; a call's name may come in parts until its arguments begin. */
function beginsAnother(call: OpenCall, piece: Piece): boolean {
  if (piece.name === undefined || isBlank(call.arguments)) return false
  if (piece.name !== call.name) return true
  return !isBlank(piece.arguments) && piece.arguments !== call.arguments && isComplete(call.arguments)
}

/** Only what ends like an object is parsed, since a name in every chunk asks this of every chunk. */
function isComplete(text: string): boolean {
  return text.trimEnd().endsWith('}') && parseJson(text) !== undefined
}

function join(call: OpenCall, piece: Piece) {
  if (piece.name !== undefined && piece.name !== call.name && isBlank(call.arguments)) call.name += piece.name
  if (piece.whole) call.arguments = piece.arguments
  else if (!isRepetition(call, piece)) call.arguments += piece.arguments
}

/** Some gateways send a finished call once more at the end. */
function isRepetition(call: OpenCall, piece: Piece): boolean {
  return piece.arguments === call.arguments && isComplete(call.arguments)
}
