import { LONGEST_MESSAGE } from './bounds.ts'
import { createLineCutter } from './lines.ts'

/** Reads server-sent events. */
export interface EventReader {
  /** Calls `onData` with the data of each event that this part completes. */
  take(part: Buffer, onData: (data: string) => void): void
  /** An event began that is too long to read. */
  readonly overlong: boolean
  /** Of the last event that is whole. */
  readonly lastEventId: string | undefined
  /** Milliseconds after which the server wants to be asked again; undefined where it did not say. */
  readonly retry: number | undefined
}

export function createEventReader(): EventReader {
  const lines = createLineCutter(LONGEST_MESSAGE)
  let data: string[] = []
  let size = 0
  let overlong = false
  let id: string | undefined
  let lastEventId: string | undefined
  let retry: number | undefined
  const keep = (line: string) => {
    size += line.length + 1
    overlong ||= size > LONGEST_MESSAGE
    if (!overlong) data.push(line)
  }
  const takeLine = (line: string, onData: (data: string) => void) => {
    if (line === '') {
      // Of an event that breaks off the id counts for nothing: what is asked for after it would be one too few.
      lastEventId = id
      if (data.length > 0) onData(data.join('\n'))
      data = []
      size = 0
      return
    }
    const [, field, value = ''] = /^(data|id|retry)(?:: ?(.*))?$/s.exec(line) ?? []
    if (field === 'data') keep(value)
    if (field === 'id') id = value
    if (field === 'retry' && /^\d+$/.test(value)) retry = Number(value)
  }
  return {
    take(part, onData) {
      lines.cut(part, line => takeLine(line.toString('utf8').replace(/\r$/, ''), onData))
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
