import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import protobuf from 'protobufjs'
import { z } from 'zod'
import { createRecord } from './until.ts'

const attribute = z.object({
  key: z.string(),
  value: z
    .object({
      stringValue: z.string(),
      intValue: z.string().transform(Number),
      boolValue: z.boolean(),
      doubleValue: z.number(),
      arrayValue: z.object({ values: z.array(z.object({ stringValue: z.string() })) }),
    })
    .partial(),
})
const attributes = z
  .array(attribute)
  .transform(all =>
    Object.fromEntries(
      all.map(({ key, value }) => [
        key,
        value.arrayValue?.values.map(each => each.stringValue) ?? Object.values(value)[0],
      ]),
    ),
  )
const span = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  traceState: z.string().optional(),
  name: z.string(),
  kind: z.string(),
  startTimeUnixNano: z.string(),
  endTimeUnixNano: z.string(),
  attributes: attributes.default({}),
  status: z.object({ code: z.string().optional() }).optional(),
})
const request = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes }),
      scopeSpans: z.array(z.object({ spans: z.array(span) })),
    }),
  ),
})
export type ReceivedSpan = z.infer<typeof span>

/**
 * Receives traces over OTLP/HTTP, decoded by the official definitions. What these do not have makes a request
 * shorter when it is encoded again, and is refused.
 */
export async function openOtlpReceiver() {
  const root = new protobuf.Root()
  const fixtures = join(import.meta.dirname, '../fixtures')
  root.resolvePath = (_origin, target) => join(fixtures, target)
  await root.load('opentelemetry/proto/collector/trace/v1/trace_service.proto')
  const type = root.lookupType('opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest')
  const spans = createRecord<ReceivedSpan>()
  const bodies: Buffer[] = []
  const server = createServer(async (incoming, response) => {
    const body = await buffer(incoming)
    bodies.push(body)
    const message = type.decode(body)
    const isWhole = type.encode(message).finish().length === body.length
    const plain = type.toObject(message, { longs: String, enums: String, bytes: String })
    const parsed = request.safeParse(plain)
    const isRight = incoming.url === '/v1/traces' && isWhole && parsed.success
    for (const { scopeSpans } of parsed.data?.resourceSpans ?? [])
      for (const one of scopeSpans.flatMap(scope => scope.spans)) spans.add({ ...one, ...toHex(one) })
    response.writeHead(isRight ? 200 : 400, { 'Content-Type': 'application/x-protobuf' }).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    /** All that came, as text. */
    text: () => Buffer.concat(bodies).toString('utf8'),
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

/** Returns a span's ids as trace contexts have them. */
function toHex({ traceId, spanId, parentSpanId }: ReceivedSpan) {
  const hex = (text: string) => Buffer.from(text, 'base64').toString('hex')
  return {
    traceId: hex(traceId),
    spanId: hex(spanId),
    ...(parentSpanId ? { parentSpanId: hex(parentSpanId) } : {}),
  }
}
