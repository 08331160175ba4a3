/**
 * Bytes kept of a log's end; a log is read from its beginning, so the log and each line (MAX_LINE) are
 * bounded.
 */
const MAX_BYTES = 4 * 1024 * 1024
const MAX_LINE = 16 * 1024
const HEADER = 8
const STREAMS = 4

/** A log whose framing is not valid. */
export class FrameError extends Error {}

/**
 * Reads the newest `tail` lines of a container's log. `framed`: the container has no terminal, so the log
 * consists of frames: 8 bytes (stream, three zeros, length as big-endian) and a payload. Lines of different
 * streams are in the order in which they ended. Throws FrameError.
 */
export async function readLogLines(
  body: AsyncIterable<Buffer>,
  options: { framed: boolean; tail: number },
): Promise<string[]> {
  const lines = createLines(options.tail)
  if (!options.framed) {
    for await (const chunk of body) lines.add(0, chunk)
    return lines.end()
  }
  let header = Buffer.alloc(0)
  let stream = 0
  let rest = 0
  for await (const chunk of body) {
    for (let at = 0; at < chunk.length; ) {
      if (rest > 0) {
        const payload = chunk.subarray(at, at + rest)
        lines.add(stream, payload)
        at += payload.length
        rest -= payload.length
        continue
      }
      const part = chunk.subarray(at, at + HEADER - header.length)
      header = Buffer.concat([header, part])
      at += part.length
      if (header.length < HEADER) break
      stream = readStream(header)
      rest = header.readUInt32BE(4)
      header = Buffer.alloc(0)
    }
  }
  if (rest > 0 || header.length > 0) throw new FrameError('the log ended inside a frame')
  return lines.end()
}

function readStream(header: Buffer): number {
  const stream = header[0] ?? 0
  if (stream < STREAMS && header[1] === 0 && header[2] === 0 && header[3] === 0) return stream
  throw new FrameError('the log is not framed as those of Docker and Podman are')
}

/** Joins pieces of several streams into lines and keeps the newest. */
function createLines(tail: number) {
  const open: Buffer[] = Array.from({ length: STREAMS }, () => Buffer.alloc(0))
  const kept: string[] = []
  let size = 0
  const keep = (line: Buffer) => {
    const text = line.toString('utf8').replace(/\r$/, '')
    kept.push(text)
    size += text.length
    while (kept.length > tail || size > MAX_BYTES) size -= kept.shift()?.length ?? 0
  }
  return {
    add(stream: number, piece: Buffer) {
      let rest = piece
      for (;;) {
        const end = rest.indexOf(10)
        const line = appendTo(open[stream] ?? Buffer.alloc(0), end < 0 ? rest : rest.subarray(0, end))
        if (end < 0) {
          open[stream] = line
          return
        }
        keep(line)
        open[stream] = Buffer.alloc(0)
        rest = rest.subarray(end + 1)
      }
    },
    end(): string[] {
      for (const line of open) if (line.length > 0) keep(line)
      return kept
    },
  }
}

function appendTo(line: Buffer, piece: Buffer): Buffer {
  const fits = piece.subarray(0, MAX_LINE - line.length)
  return line.length === 0 ? Buffer.from(fits) : Buffer.concat([line, fits])
}
