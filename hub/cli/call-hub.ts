import { Client, SdkHttpError, StreamableHTTPClientTransport, type Tool } from '@modelcontextprotocol/client'
import { readVersion } from '../config/paths.ts'
import { describeError, HubError } from '../core/errors.ts'
import { createTrustedFetch } from '../core/trusted-fetch.ts'
import { findHub, type RunningHub } from './find-hub.ts'
import { print, printJson } from './print.ts'

/**
 * Calls one of the hub's tools and returns its structured result; `timeout` is in milliseconds. Throws
 * `unavailable` with the tool's own words or the reason why the hub does not answer, `unauthorized` where it
 * refuses the token.
 */
export async function callHub(
  hub: RunningHub,
  name: string,
  args: Record<string, unknown>,
  { timeout = 30_000, onProgress }: { timeout?: number; onProgress?: (message: string) => void } = {},
): Promise<{ structured: unknown; text: string }> {
  const onprogress = ({ message = '' }: { message?: string | undefined }) => onProgress?.(message)
  const options = { timeout, ...(onProgress ? { onprogress } : {}) }
  const result = await connected(hub, client => client.callTool({ name, arguments: args }, options))
  const text = result.content.map(block => (block.type === 'text' ? block.text : '')).join('\n')
  if (result.isError) throw new HubError('unavailable', toCommands(text))
  return { structured: result.structuredContent, text }
}

/** Calls one of the running hub's tools and prints its text, or with `json` its structured result. */
export async function printCall(
  name: string,
  args: Record<string, unknown> = {},
  json = false,
): Promise<void> {
  const { structured, text } = await callHub(findHub(), name, args)
  if (json) printJson(structured)
  else print(text)
}

/** Commands that replace the hub's tools in messages to people. */
const COMMANDS: Record<string, string> = {
  hub_list_allowances: 'superbloom policy allowances',
  hub_list_dead_letters: 'superbloom dead-letters --all',
  hub_list_schedules: 'superbloom schedules',
  hub_list_tokens: 'superbloom tokens',
  hub_list_threads: 'superbloom threads --archived',
}

function toCommands(text: string): string {
  return text.replace(/\bhub_list_[a-z_]+\b/g, tool => COMMANDS[tool] ?? tool)
}

/** Lists every tool that the hub offers. Throws as `callHub` does. */
export async function listHubTools(hub: RunningHub): Promise<Tool[]> {
  return (await connected(hub, client => client.listTools())).tools
}

async function connected<Result>(hub: RunningHub, use: (client: Client) => Promise<Result>): Promise<Result> {
  const client = new Client(
    { name: 'superbloom-cli', version: readVersion() },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  )
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', hub.url), {
    requestInit: { headers: { Authorization: `Bearer ${hub.token}` } },
    fetch: createTrustedFetch(hub.certificate),
  })
  try {
    await client.connect(transport)
    return await use(client)
  } catch (error) {
    throw explain(error, hub)
  } finally {
    await client.close()
  }
}

function explain(cause: unknown, { url }: RunningHub): HubError {
  const status = cause instanceof SdkHttpError ? cause.status : undefined
  if (status === 401) {
    const why = 'SUPERBLOOM_TOKEN, or the file token in the data folder, says another one'
    return new HubError('unauthorized', `The hub at ${url} does not take this token: ${why}`, { cause })
  }
  if (status === 413)
    return new HubError('too_large', 'This is too much at once: a request may have 1 MiB', { cause })
  return new HubError('unavailable', `The hub at ${url} does not answer: ${describeError(cause)}`, { cause })
}
