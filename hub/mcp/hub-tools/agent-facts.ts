import { z } from 'zod'
import { storedFact } from '../../../schemas/inbox.ts'
import { name } from '../../../schemas/names.ts'
import { HubError } from '../../core/errors.ts'
import {
  type ContextScope,
  LONGEST_KEY,
  readContext,
  refuseFact,
  removeContext,
  storeContext,
} from '../../store/context.ts'
import { mainThreadId } from '../../store/threads.ts'
import { checkAgentIsKnown } from './deps.ts'
import { defineHubTool } from './hub-tool.ts'

const named = z.strictObject({
  agent: name,
  scope: storedFact.shape.scope.default('agent').describe("thread: only in the agent's main thread"),
  key: z.string().trim().min(1).max(LONGEST_KEY),
})

export const storeFact = defineHubTool({
  name: 'hub_store_fact',
  title: 'Have an agent remember',
  description:
    'Stores a fact among those that an agent remembers, as said by a person: also one that a text from outside led to, which is accepted so.',
  input: named.extend({ value: z.string().trim().min(1) }),
  output: storedFact,
  effect: 'removes',
  right: 'admin',
  async run({ agent, scope, key, value }, { deps }) {
    await checkAgentIsKnown(deps, agent)
    await deps.store.write(async tx => {
      const at = ownerOf(agent, scope)
      const refusal = refuseFact(await readContext(tx, at), key, value)
      if (refusal !== undefined) throw new HubError('invalid_arguments', refusal)
      await storeContext(tx, at, { key, value, power: 'person' }, deps.clock.now())
    })
    return { scope, key, value }
  },
  toText: ({ key }) => `Stored ${key}.`,
})

export const removeFact = defineHubTool({
  name: 'hub_remove_fact',
  title: 'Have an agent forget',
  description: 'Removes a fact from those that an agent remembers (hub_read_agent).',
  input: named,
  output: named,
  effect: 'removes',
  right: 'admin',
  async run({ agent, scope, key }, { deps }) {
    await checkAgentIsKnown(deps, agent)
    await deps.store.write(tx => removeContext(tx, ownerOf(agent, scope), key))
    return { agent, scope, key }
  },
  toText: ({ key }) => `Forgot ${key}.`,
})

function ownerOf(agent: string, scope: ContextScope['scope']): ContextScope {
  return { scope, owner: scope === 'agent' ? agent : mainThreadId(agent) }
}
