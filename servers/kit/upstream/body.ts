/** What is sent along: one of these. */
export type RequestBody =
  | { json: unknown }
  | { form: Readonly<Record<string, string>> }
  | { multipart: FormData }
  /** `type` is the content type; default `text/plain`. */
  | { text: string; type?: string }
  | { bytes: Uint8Array<ArrayBuffer>; type: string }

export interface SentBody {
  body?: string | URLSearchParams | FormData | Uint8Array<ArrayBuffer>
  headers: Record<string, string>
}

export function toSentBody(body: RequestBody | undefined): SentBody {
  if (body === undefined) return { headers: {} }
  if ('json' in body)
    return { body: JSON.stringify(body.json), headers: { 'content-type': 'application/json' } }
  if ('form' in body) return { body: new URLSearchParams({ ...body.form }), headers: {} }
  if ('multipart' in body) return { body: body.multipart, headers: {} }
  if ('bytes' in body) return { body: body.bytes, headers: { 'content-type': body.type } }
  return { body: body.text, headers: { 'content-type': body.type ?? 'text/plain; charset=utf-8' } }
}

/** The bytes of an answer; undefined as soon as they are more than `max`, and the rest is not read. */
export async function readBytes(response: Response, max: number): Promise<Uint8Array | undefined> {
  if (Number(response.headers.get('content-length')) > max) {
    await response.body?.cancel()
    return undefined
  }
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > max) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
