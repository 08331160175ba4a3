import { parseJson } from '../../core/json.ts'
import type { ModelCall } from '../../core/model.ts'

/** A piece of a tool call in a streamed reply. Providers leave out, repeat and mistype every field of it. */
interface CallPiece {
  index?: unknown
  /** Fields beside the call, such as Gemini's thought signature. */
  extra_content?: unknown
  id?: unknown
  function?: { name?: unknown; arguments?: unknown } | null
}

interface OpenCall {
  /** Id that the provider sent; missing where it sent none. */
  id: string | undefined
  name: string
  arguments: string
  extra: unknown
}

/** A call with the fields beside it that its provider may want back. */
export interface AccumulatedCall {
  call: ModelCall
  extra: unknown
}

/**
 * Puts streamed tool calls together. `makeId` names the call at a position (from 0) whose provider sent no
 * id; `isTool` tells which names may be called.
 *
 * A piece with a known id belongs to the call of that id, unless it has a name and another call's index. A
 * new id with a name begins a call, whatever its index (Ollama sends 0 for all). Otherwise the index tells
 * the call; without an index it is the current call. A piece that could only break the call it would join
 * (another name, or arguments after complete ones) begins a new call too.
 */
export function createCallAccumulator(
  makeId: (position: number) => string,
  isTool: (name: string) => boolean,
) {
  const calls: OpenCall[] = []
  const byId = new Map<string, OpenCall>()
  const byIndex = new Map<number, OpenCall>()
  let current: OpenCall | undefined

  /** Finds the call that a piece continues. `previous` is the call of the piece before it in the chunk. */
  function find(piece: Piece, previous: OpenCall | undefined): OpenCall | undefined {
    const known = knownOf(piece)
    const there = known ?? (piece.index === undefined ? current : byIndex.get(piece.index))
    if (!there || known) return there
    if (piece.id !== undefined) return piece.name === undefined ? there : undefined
    const another = piece.index === undefined && piece.name !== undefined && there === previous
    return another ? undefined : there
  }

  /** Returns the call of the piece's id; undefined also where a provider gives the same id to all calls. */
  function knownOf({ id, index, name }: Piece): OpenCall | undefined {
    const known = id === undefined ? undefined : byId.get(id)
    const isAnother = name !== undefined && index !== undefined && byIndex.get(index) !== known
    return isAnother ? undefined : known
  }

  function begin(id: string | undefined): OpenCall {
    const call: OpenCall = { id, name: '', arguments: '', extra: undefined }
    calls.push(call)
    return call
  }

  function take(piece: Piece, previous: OpenCall | undefined): OpenCall {
    const own = piece.id === undefined || byId.has(piece.id) ? undefined : piece.id
    const found = find(piece, previous)
    const call = found && !beginsAnother(found, piece, isTool) ? found : begin(own)
    call.id ??= own
    if (piece.id !== undefined) byId.set(piece.id, call)
    if (piece.index !== undefined) byIndex.set(piece.index, call)
    join(call, piece)
    return call
  }

  return {
    /** Takes the `tool_calls` of one chunk, whatever they are. */
    push(pieces: unknown) {
      if (!Array.isArray(pieces)) return
      let previous: OpenCall | undefined
      for (const raw of pieces) {
        const piece = toPiece(raw)
        if (!piece) continue
        current = take(piece, previous)
        previous = current
      }
    },
    /** Returns the calls in the order in which they began; arguments that never came are `{}`. */
    finish: (): AccumulatedCall[] =>
      calls
        .filter(call => call.name !== '' || call.arguments !== '')
        .map(({ id, name, extra, ...call }, position) => ({
          call: {
            id: id ?? makeId(position),
            name,
            arguments: isBlank(call.arguments) ? '{}' : call.arguments,
          },
          extra,
        })),
  }
}

/** A piece whose fields have the right types, or are missing. */
interface Piece {
  id: string | undefined
  index: number | undefined
  name: string | undefined
  arguments: string
  /** True where the arguments came as an object, and so are complete. */
  whole: boolean
  extra: unknown
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
    extra: raw.extra_content ?? undefined,
  }
}

function toText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function isBlank(text: string): boolean {
  return text.trim() === ''
}

/** Tells whether a named piece cannot continue `call`, whose name may come in parts before its arguments. */
function beginsAnother(call: OpenCall, piece: Piece, isTool: (name: string) => boolean): boolean {
  if (piece.name === undefined) return false
  if (isBlank(call.arguments)) return piece.name !== call.name && isTool(call.name) && isTool(piece.name)
  if (piece.name !== call.name) return true
  return !isBlank(piece.arguments) && piece.arguments !== call.arguments && isComplete(call.arguments)
}

/**
 * Tells whether a text is complete JSON. It is called for every chunk, so it parses only what ends like an
 * object.
 */
function isComplete(text: string): boolean {
  return text.trimEnd().endsWith('}') && parseJson(text) !== undefined
}

function join(call: OpenCall, piece: Piece) {
  call.extra = piece.extra ?? call.extra
  if (piece.name !== undefined && piece.name !== call.name && isBlank(call.arguments)) call.name += piece.name
  if (piece.whole) call.arguments = piece.arguments
  // Some gateways repeat a finished call at the end.
  else if (piece.arguments !== call.arguments || !isComplete(call.arguments))
    call.arguments += piece.arguments
}
