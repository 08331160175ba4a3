import { z } from 'zod'

/** W3C trace context, under the names that it has in the `_meta` of MCP. */
export const traceContext = z.object({
  traceparent: z.string().regex(/^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/),
  tracestate: z.string().max(512).optional(),
})
export type TraceContext = z.infer<typeof traceContext>
