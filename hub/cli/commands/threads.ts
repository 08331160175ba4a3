import { callHub } from '../call-hub.ts'
import { findHub } from '../find-hub.ts'
import { print, printJson } from '../print.ts'
import { readLimit } from '../read-limit.ts'

export interface ThreadsOptions {
  agent?: string
  status?: string
  archived?: boolean
  json?: boolean
}

/** Lists the threads of one agent or of all. */
export async function threads({ json, ...filter }: ThreadsOptions): Promise<void> {
  await show('hub_list_threads', { ...filter }, json)
}

/** Prints a thread's cycles, one after the other. */
export async function showThread(
  thread: string,
  { json, after, limit }: { json?: boolean; after?: string; limit?: string },
): Promise<void> {
  const page = { ...(after ? { after } : {}), ...(limit ? { limit: readLimit(limit) } : {}) }
  await show('hub_read_thread', { thread, ...page }, json)
}

async function show(tool: string, args: Record<string, unknown>, json: boolean | undefined): Promise<void> {
  const { structured, text } = await callHub(findHub(), tool, args)
  json ? printJson(structured) : print(text)
}
