import { z } from 'zod'
import type { CallContext } from '../core/tool-box.ts'
import { type ContextScope, readContext, removeContext, storeContext } from '../store/context.ts'
import { defineMetaTool, type MetaTool } from './meta-tool.ts'
import { defaultScope, mayWrite } from './scope.ts'

const LONGEST_KEY = 100
const LONGEST_FACT = 4_000
/** The most facts, and their bytes, of one owner; the context window, which takes them whole, holds more. */
const MOST_FACTS = 100
const MOST_BYTES = 32 * 1024

export function storeContextTool(): MetaTool {
  return defineMetaTool({
    name: 'store_context',
    title: 'Remember',
    description:
      'Stores a fact under a key so that you never forget it: preferences, constraints, what you promised. An empty value forgets the key.',
    input: z.strictObject({
      key: z
        .string()
        .trim()
        .min(1)
        .max(
          LONGEST_KEY,
          `is over ${LONGEST_KEY} characters: take a short name, and put the rest into value`,
        ),
      value: z.union([
        z.string(),
        z.number(),
        z.boolean(),
        z.record(z.string(), z.unknown()),
        z.array(z.unknown()),
      ]),
      scope: z
        .enum(['thread', 'agent'])
        .optional()
        .describe('whose fact it is; default agent, in a task thread'),
    }),
    async run(tx, { key, value: given, ...args }, context) {
      const scope = args.scope ?? defaultScope(context)
      if (!(await mayWrite(tx, scope, context))) {
        return {
          text: 'scope: this task may not write to the memory of its agent; use thread',
          isError: true,
        }
      }
      const at = toOwner(scope, context)
      const value = typeof given === 'string' ? given : JSON.stringify(given)
      if (value.trim() === '') {
        await removeContext(tx, at, key)
        return { text: `Forgot ${key}.`, isError: false, structured: { key, value: '', scope } }
      }
      const refusal = decideRefusal(await readContext(tx, at), key, value)
      if (refusal) return { text: refusal, isError: true }
      await storeContext(tx, at, key, value, context.now)
      return { text: `Stored ${key}.`, isError: false, structured: { key, value, scope } }
    },
  })
}

function decideRefusal(
  facts: readonly { key: string; value: string }[],
  key: string,
  value: string,
): string | undefined {
  if (value.length > LONGEST_FACT) {
    return `value: has ${value.length} characters, at most ${LONGEST_FACT} are kept: store what matters, or several facts under keys of their own`
  }
  const others = facts.filter(fact => fact.key !== key)
  const bytes = [...others, { key, value }].reduce(
    (sum, fact) => sum + Buffer.byteLength(fact.key) + Buffer.byteLength(fact.value),
    0,
  )
  if (others.length < MOST_FACTS && bytes <= MOST_BYTES) return undefined
  const longest = others.toSorted((a, b) => b.value.length - a.value.length).slice(0, 3)
  return `No room: at most ${MOST_FACTS} facts with ${MOST_BYTES / 1024} KB together are kept, and this would make it ${others.length + 1} with ${Math.ceil(bytes / 1024)} KB. Forget some with an empty value first; the longest: ${longest.map(fact => fact.key).join(', ')}`
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
