import { z } from 'zod'

/** The answer of a program to a request without a key. */
export interface Answer {
  status: number
  headers: Pick<Headers, 'get'>
  text: string
  /** The text as JSON; undefined where it is none. */
  json: unknown
}

export interface Recognised {
  version?: string
}

/** Recognises a program by the shape of its JSON. */
const byJson =
  <Schema extends z.ZodType>(schema: Schema, versionOf: (value: z.output<Schema>) => string | undefined) =>
  ({ json }: Answer): Recognised | undefined => {
    const parsed = schema.safeParse(json)
    if (!parsed.success) return undefined
    const version = versionOf(parsed.data)
    return version === undefined ? {} : { version }
  }

const byTitle =
  (title: RegExp) =>
  ({ text }: Answer): Recognised | undefined => {
    const found = /<title>([^<]*)<\/title>/i.exec(text)?.[1]
    return found !== undefined && title.test(found) ? {} : undefined
  }

/**
 * Tells each program from all others by what it answers without a key. Sources: the programs' own code and official
 * descriptions; tests/real/find-programs.test.ts asks those that can run here.
 */
export const RECOGNISED = {
  /** `mode=version` is open (sabnzbd/api.py). */
  sabnzbd: byJson(z.strictObject({ version: z.string() }), ({ version }) => version),
  /** The title of its login page, and of its page where this machine needs no login. */
  qbittorrent: byTitle(/^qBittorrent\b/),
  /** The RPC names the program in `Server` also where it wants a login (libtransmission/rpc-server.cc). */
  transmission: ({ headers }: Answer): Recognised | undefined =>
    /^Transmission\b/.test(headers.get('server') ?? '') ? {} : undefined,
  jellyfin: byJson(
    z.object({ ProductName: z.literal('Jellyfin Server'), Version: z.string() }),
    ({ Version }) => Version,
  ),
  /** The login page is open and served also where no login is wanted (StaticResourceController.cs). */
  radarr: byTitle(/\bRadarr\b/),
  sonarr: byTitle(/\bSonarr\b/),
  seerr: byJson(
    z.object({ version: z.string(), commitTag: z.string(), updateAvailable: z.boolean() }),
    ({ version }) => version,
  ),
  prometheus: byJson(
    z.object({
      status: z.literal('success'),
      data: z.object({ version: z.string(), goVersion: z.string() }),
    }),
    ({ data }) => data.version,
  ),
  alertmanager: byJson(
    z.object({ cluster: z.object({ status: z.string() }), versionInfo: z.object({ version: z.string() }) }),
    ({ versionInfo }) => versionInfo.version,
  ),
  nodeExporter: byTitle(/^Node Exporter$/i),
  ntfy: byJson(z.strictObject({ healthy: z.boolean() }), () => undefined),
} as const
