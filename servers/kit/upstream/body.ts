const FORM = 'application/x-www-form-urlencoded;charset=UTF-8'

/** The body of a request, in one of these forms. */
export type RequestBody =
  | { json: unknown }
  | { form: Readonly<Record<string, string>> }
  | { multipart: FormData }
  /** `type` is the content type; default `text/plain`. */
  | { text: string; type?: string }
  | { bytes: Uint8Array<ArrayBuffer>; type: string }

export interface SentBody {
  body?: string | Uint8Array
  headers: Record<string, string>
}

/** Serializes a body. Multipart is built by the platform's fetch, which is loaded only for it. */
export async function toSentBody(body: RequestBody | undefined): Promise<SentBody> {
  if (body === undefined) return { headers: {} }
  if ('json' in body) return toTyped('application/json', JSON.stringify(body.json))
  if ('form' in body) return toTyped(FORM, new URLSearchParams({ ...body.form }).toString())
  if ('multipart' in body) {
    const whole = new Response(body.multipart)
    return toTyped(whole.headers.get('content-type') ?? '', await whole.bytes())
  }
  if ('bytes' in body) return toTyped(body.type, body.bytes)
  return toTyped(body.type ?? 'text/plain; charset=utf-8', body.text)
}

function toTyped(type: string, body: string | Uint8Array): SentBody {
  return { body, headers: { 'content-type': type } }
}
