import { z } from 'zod'

/** Health of one upstream of a server. */
export const upstreamHealth = z.object({
  name: z.string().describe('of the instance'),
  kind: z.string().describe('what program it is: "radarr"'),
  address: z.string().describe('without secrets'),
  ok: z.boolean(),
  version: z.string().optional(),
  reason: z.string().optional().describe('why it is not ok'),
})
export type UpstreamHealth = z.infer<typeof upstreamHealth>

/** The text of a server's `health://<server>` resource. `ok` is true where all upstreams are. */
export const healthReport = z.object({ ok: z.boolean(), upstreams: z.array(upstreamHealth) })
export type HealthReport = z.infer<typeof healthReport>

/** Key in the `_meta` of a built-in server's failure: nobody set up what the tool asks. */
export const UNCONFIGURED = 'superbloom/unconfigured'
