import type { HealthReport, UpstreamHealth } from '../../schemas/health.ts'
import { toFailure } from './failure.ts'
import type { StartedServer } from './server.ts'
import { cleanText } from './text.ts'

export function toHealthUri(server: string): string {
  return `health://${server}`
}

/** Returns the server's health check, or undefined if it has none. The check rejects if it fails itself. */
export function toHealth(started: StartedServer): (() => Promise<HealthReport>) | undefined {
  if (!started.health) return undefined
  return async () => {
    const upstreams = [...((await started.health?.()) ?? [])]
    return { ok: upstreams.every(({ ok }) => ok), upstreams }
  }
}

/**
 * Checks one upstream: `ask` resolves with its version, or undefined, or rejects, which becomes the reason.
 * Never rejects.
 */
export async function checkHealth(
  upstream: { name: string; kind: string; address: string },
  ask: () => Promise<string | undefined>,
): Promise<UpstreamHealth> {
  const { name, kind, address } = upstream
  try {
    const version = await ask()
    const about = version === undefined ? {} : { version: cleanText(version, 60) }
    return { name, kind, address, ok: true, ...about }
  } catch (error) {
    const { what, why } = toFailure(error, kind)
    return { name, kind, address, ok: false, reason: `${what.replace(/\.$/, '')}: ${why}` }
  }
}

/** Checks upstreams that know their own name, address and version, all at once. Never rejects. */
export function checkAll(
  upstreams: readonly {
    kind: string
    of: { readonly name: string; readonly address: string; version(): Promise<string | undefined> }
  }[],
): Promise<UpstreamHealth[]> {
  return Promise.all(
    upstreams.map(({ kind, of }) =>
      checkHealth({ name: of.name, kind, address: of.address }, () => of.version()),
    ),
  )
}
