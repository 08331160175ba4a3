import { z } from 'zod'

/** How clients of /mcp sign in with OAuth. */
export const authorization = z
  .strictObject({
    issuer: z
      .union([z.literal('own'), z.url({ protocol: /^https?$/ })], 'must be own, or the address of an issuer')
      .describe('own: the hub itself, and its owner says yes; else whose access tokens open /mcp'),
    audience: z
      .string()
      .min(1)
      .optional()
      .describe("of that issuer's tokens; default the address of /mcp, as RFC 8707 has it"),
  })
  .refine(({ issuer, audience }) => issuer !== 'own' || audience === undefined, {
    path: ['audience'],
    error: 'is for another issuer; the own one names the address of /mcp',
  })
export type AuthorizationEntry = z.infer<typeof authorization>
