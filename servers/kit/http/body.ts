import type { IncomingMessage } from 'node:http'

export const MAX_BODY = 1024 * 1024

export type Body = { kind: 'json'; value: unknown } | { kind: 'too-large' } | { kind: 'not-json' }

/**
 * Reads the JSON body of a request, at most 1 MiB. The rest of a larger one is read and dropped, so that the
 * client can read the answer. Rejects when the client disconnects in the middle.
 */
export async function readJsonBody(request: IncomingMessage): Promise<Body> {
  const bytes = Number(request.headers['content-length']) > MAX_BODY ? undefined : await readBytes(request)
  if (bytes === undefined) return { kind: 'too-large' }
  try {
    return { kind: 'json', value: JSON.parse(bytes.toString('utf8')) }
  } catch (error) {
    if (error instanceof SyntaxError) return { kind: 'not-json' }
    throw error
  }
}

function readBytes(request: IncomingMessage): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= MAX_BODY) chunks.push(chunk)
      else {
        chunks = []
        resolve(undefined)
      }
    })
    request.on('end', () => resolve(Buffer.concat(chunks)))
    request.on('error', reject)
  })
}
