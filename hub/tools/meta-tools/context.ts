import { z } from 'zod'
import type { CallContext } from '../../core/tool-box.ts'
import { type ContextScope, readContext, removeContext, storeContext } from '../../store/context.ts'
import { defineMetaTool, type MetaTool } from './meta-tool.ts'

const MOST_FACTS = 200
const LONGEST_FACT = 8_000
/** All facts of one owner together: they stand in the window whole, which holds far more than that. */
const MOST_CHARACTERS = 16_000

const scope = z.enum(['thread', 'agent']).default('agent').describe('whose fact it is')

export function storeContextTool(): MetaTool {
  return defineMetaTool({
    name: 'store_context',
    title: 'Remember',
    description:
      'Stores a fact under a key so that you never forget it: preferences, constraints, what you promised. An empty value forgets the key.',
    input: z.strictObject({
      key: z.string().min(1).max(200),
      value: z.union([
        z.string(),
        z.number(),
        z.boolean(),
        z.record(z.string(), z.unknown()),
        z.array(z.unknown()),
      ]),
      scope,
    }),
    async run(tx, args, context) {
      const at = toOwner(args.scope, context)
      const value = typeof args.value === 'string' ? args.value : JSON.stringify(args.value)
      if (value.length > LONGEST_FACT) {
        return { text: `value: is over ${LONGEST_FACT} characters; store what matters`, isError: true }
      }
      if (value === '') {
        await removeContext(tx, at, args.key)
        return { text: `Forgot ${args.key}.`, isError: false }
      }
      const others = (await readContext(tx, at)).filter(fact => fact.key !== args.key)
      const characters = others.reduce((sum, fact) => sum + fact.key.length + fact.value.length, 0)
      if (others.length >= MOST_FACTS || characters + value.length > MOST_CHARACTERS) {
        return {
          text: `No room: at most ${MOST_FACTS} facts with ${MOST_CHARACTERS} characters together; forget some with an empty value.`,
          isError: true,
        }
      }
      await storeContext(tx, at, args.key, value, context.now)
      return { text: `Stored ${args.key}.`, isError: false, structured: { key: args.key, value: args.value } }
    },
  })
}

export function getContextTool(): MetaTool {
  return defineMetaTool({
    name: 'get_context',
    title: 'What do I remember?',
    description: 'Reads what was stored with store_context: one key, or everything.',
    input: z.strictObject({ key: z.string().optional() }),
    readOnly: true,
    async run(tx, { key }, context) {
      const scopes = [toOwner('agent', context), toOwner('thread', context)]
      const facts = (await Promise.all(scopes.map(at => readContext(tx, at)))).flat()
      const found = key === undefined ? facts : facts.filter(fact => fact.key === key)
      const none = key === undefined ? 'Nothing is stored.' : `Nothing is stored under ${key}.`
      return {
        text: found.map(fact => `${fact.key}: ${fact.value}`).join('\n') || none,
        isError: false,
        structured: { facts: found },
      }
    },
  })
}

function toOwner(which: ContextScope['scope'], context: CallContext): ContextScope {
  return { scope: which, owner: which === 'agent' ? context.agent : context.thread }
}
