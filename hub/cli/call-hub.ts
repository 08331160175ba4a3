import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { readVersion } from '../config/paths.ts'
import { HubError } from '../core/errors.ts'
import type { RunningHub } from './find-hub.ts'

export interface CallHubOptions {
  /** Milliseconds. */
  timeout?: number
  onProgress?: (message: string) => void
}

/** Calls one of the hub's tools and returns its structured result. Throws `bad_request` with the tool's own words. */
export async function callHub(
  hub: RunningHub,
  name: string,
  args: Record<string, unknown>,
  options: CallHubOptions = {},
): Promise<{ structured: unknown; text: string }> {
  const client = new Client(
    { name: 'superbloom-cli', version: readVersion() },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  )
  await client.connect(
    new StreamableHTTPClientTransport(new URL('/mcp', hub.url), {
      requestInit: { headers: { Authorization: `Bearer ${hub.token}` } },
    }),
  )
  try {
    const result = await client.callTool(
      { name, arguments: args },
      {
        timeout: options.timeout ?? 30_000,
        ...(options.onProgress
          ? {
              onprogress: ({ message }: { message?: string | undefined }) =>
                options.onProgress?.(message ?? ''),
            }
          : {}),
      },
    )
    const text = result.content.map(block => (block.type === 'text' ? block.text : '')).join('\n')
    if (result.isError) throw new HubError('unavailable', text)
    return { structured: result.structuredContent, text }
  } finally {
    await client.close()
  }
}
