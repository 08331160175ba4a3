import { z } from 'zod'

/** How other devices reach the hub. */
export const reach = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('alone') }).describe('it listens for its own machine alone'),
  z.object({ kind: z.literal('unknown'), why: z.string() }),
  z.object({
    kind: z.literal('reached'),
    urls: z.array(z.string()),
    refused: z.array(z.string()).describe('names of these addresses that the hub does not answer under'),
  }),
])
export type Reach = z.infer<typeof reach>

/** A link with which a device signs in once, and its QR code: a text of 0 and 1 for each row. */
export const deviceLink = z.object({
  link: z.string(),
  code: z.array(z.string()),
  expiresAt: z.number().optional().describe('unix milliseconds'),
})
export type DeviceLink = z.infer<typeof deviceLink>
