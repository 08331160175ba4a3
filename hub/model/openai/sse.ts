/** One event of a stream of server-sent events. */
export interface SseEvent {
  name: string | undefined
  data: string
}

export interface EventParser {
  /** The events that this text completes. */
  push(text: string): SseEvent[]
  /** What the end of the stream completes. */
  end(): SseEvent[]
}

/**
 * Reads `text/event-stream` (WHATWG HTML, 9.2.6) as far as model providers use it: comments, `event` and `data`;
 * lines end with LF or CRLF. The end of the stream completes an event whose blank line is missing.
 */
export function createSseParser(): EventParser {
  let rest = ''
  let name: string | undefined
  let data: string | undefined

  function takeLine(line: string, events: SseEvent[]) {
    if (line === '') {
      if (data !== undefined) events.push({ name, data })
      name = undefined
      data = undefined
    } else if (line.startsWith('data:')) {
      const value = fieldValue(line, 5)
      data = data === undefined ? value : `${data}\n${value}`
    } else if (line.startsWith('event:')) {
      name = fieldValue(line, 6)
    }
  }

  return {
    push(text) {
      const events: SseEvent[] = []
      rest += text
      let start = 0
      for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n', start)) {
        takeLine(rest.slice(start, rest[end - 1] === '\r' ? end - 1 : end), events)
        start = end + 1
      }
      rest = rest.slice(start)
      return events
    },
    end() {
      const events: SseEvent[] = []
      takeLine(rest.replace(/\r$/, ''), events)
      takeLine('', events)
      rest = ''
      return events
    },
  }
}

function fieldValue(line: string, from: number): string {
  return line.slice(line[from] === ' ' ? from + 1 : from)
}

/** For a provider that answers a streamed request with one JSON document: the whole body is one event. */
export function createWholeParser(): EventParser {
  let body = ''
  return {
    push(text) {
      body += text
      return []
    },
    end: () => [{ name: undefined, data: body }],
  }
}
