import { LONGEST_MESSAGE } from '../bounds.ts'
import { createLineCutter } from '../stdio/lines.ts'
import { HeldBytes, type HeldShare } from './held-bytes.ts'

const COLON = 0x3a
const SPACE = 0x20
const RETURN = 0x0d
const LINE_END = Buffer.from('\n')
/** The most characters of a field's name that the reader knows. */
const LONGEST_FIELD = 5

/** Reads server-sent events. */
export interface EventReader {
  /** Calls `onData` with the data of each event that this part completes; returns how many lines it does. */
  take(part: Buffer, onData: (data: string) => void): number
  /** True once an event was too long to read. */
  readonly overlong: boolean
  /** The id of the last complete event. */
  readonly lastEventId: string | undefined
  /** Milliseconds after which the server wants to be asked again; undefined if it did not say. */
  readonly retry: number | undefined
}

export function createEventReader(share?: HeldShare): EventReader {
  const lines = createLineCutter(LONGEST_MESSAGE, share)
  const data = new HeldBytes(share)
  let overlong = false
  let id: string | undefined
  let lastEventId: string | undefined
  let retry: number | undefined
  const keep = (value: Buffer) => {
    overlong ||= data.size + value.length >= LONGEST_MESSAGE
    if (overlong) return
    data.append(value)
    data.append(LINE_END)
  }
  const takeLine = (line: Buffer, onData: (data: string) => void) => {
    if (line.length === 0) {
      // The id counts only once its event is complete: resuming after an incomplete event would skip it.
      lastEventId = id
      if (data.size > 0) onData(data.take().toString('utf8').slice(0, -1))
      return
    }
    const { field, value } = split(line)
    if (field === 'data') keep(value)
    if (field === 'id') id = value.toString('utf8')
    if (field === 'retry' && /^\d+$/.test(value.toString('utf8'))) retry = Number(value.toString('utf8'))
  }
  return {
    take(part, onData) {
      return lines.cut(part, line => takeLine(withoutReturn(line), onData))
    },
    get overlong() {
      return overlong || lines.overlong
    },
    get lastEventId() {
      return lastEventId
    },
    get retry() {
      return retry
    },
  }
}

function withoutReturn(line: Buffer): Buffer {
  return line.at(-1) === RETURN ? line.subarray(0, -1) : line
}

/** Splits a line into field and value; a line without a colon is a field without a value. */
function split(line: Buffer): { field: string; value: Buffer } {
  const colon = line.indexOf(COLON)
  const end = colon === -1 ? line.length : colon
  const from = line[end + 1] === SPACE ? end + 2 : end + 1
  return { field: line.toString('latin1', 0, Math.min(end, LONGEST_FIELD + 1)), value: line.subarray(from) }
}
