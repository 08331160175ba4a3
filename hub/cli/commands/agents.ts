import { z } from 'zod'
import { toIso } from '../../core/clock.ts'
import { plural, toLine } from '../../core/text.ts'
import { callHub } from '../call-hub.ts'
import { findHub } from '../find-hub.ts'
import { print, printJson } from '../print.ts'

const list = z.object({
  agents: z.array(
    z.object({
      name: z.string(),
      description: z.string(),
      status: z.string(),
      threads: z.int(),
      pending: z.int(),
      cycles: z.int(),
      lastCycleAt: z.number().nullable(),
      tokensToday: z.int(),
      windowTokens: z.int(),
    }),
  ),
})

/** Prints every agent with its activity. */
export async function agents({ json }: { json?: boolean }): Promise<void> {
  const { structured } = await callHub(findHub(), 'hub_list_agents', {})
  if (json) return printJson(structured)
  const all = list.parse(structured).agents
  if (all.length === 0) return print('No agents: write agents/<name>.md')
  for (const one of all) {
    const last = one.lastCycleAt === null ? 'never ran' : `last ran ${toIso(one.lastCycleAt)}`
    const figures = [
      plural(one.threads, 'thread'),
      `${plural(one.pending, 'inbox item')} waiting`,
      plural(one.cycles, 'cycle'),
      last,
      `${one.tokensToday} tokens today`,
      `${one.windowTokens} tokens in the window`,
    ]
    print(`${one.name} (${one.status}): ${toLine(one.description)}\n  ${figures.join(', ')}`)
  }
}
