import { expect } from 'vitest'
import { createSignals } from '../../hub/core/signals.ts'
import type { CallContext, ToolOutcome } from '../../hub/core/tool-box.ts'
import { createMetaTools } from '../../hub/meta-tools/index.ts'
import type { MetaDeps, MetaTool } from '../../hub/meta-tools/meta-tool.ts'
import { openTempStore } from './temp-store.ts'

/** Opens the meta-tools, and `more` of them, over an empty store. */
export async function openMetaTools(
  given: Partial<MetaDeps> = {},
  more: readonly ((deps: MetaDeps) => MetaTool)[] = [],
) {
  const store = await openTempStore()
  const signals = createSignals(error => expect.unreachable(String(error)))
  let made = 0
  const deps: MetaDeps = {
    newId: prefix => `${prefix}_${++made}`,
    signals,
    agentsOf: () => ['homelab'],
    agent: () => undefined,
    ...given,
  }
  const tools = [...createMetaTools(deps), ...more.map(create => create(deps))]
  return {
    store,
    signals,
    tools,
    /** Calls a tool, by default as the agent `homelab` on its main thread. */
    async call(
      name: string,
      args: Record<string, unknown> = {},
      context: Partial<CallContext> = {},
    ): Promise<ToolOutcome> {
      const tool = tools.find(each => each.name === name)
      if (!tool) throw new Error(`There is no meta-tool ${name}`)
      const effects: (() => void)[] = []
      const outcome = await store.write(tx =>
        tool.run(tx, args, {
          agent: 'homelab',
          thread: 'thr_homelab',
          cycle: 'cyc_1',
          conversation: null,
          power: 'person',
          hasReadForeign: false,
          now: 0,
          timezone: 'UTC',
          afterCommit: effect => effects.push(effect),
          ...context,
        }),
      )
      for (const effect of effects) effect()
      return outcome
    },
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  }
}
