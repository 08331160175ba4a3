import { z } from 'zod'
import type { Form } from '../form/form.ts'

export const repair = z.discriminatedUnion('kind', [
  /** A parameter is left out, by its path on the wire. */
  z.object({ kind: z.literal('parameter'), name: z.string() }),
  /** Tools are left out, by the hub's names. `isBlamed`: each is known to be refused, else one may be. */
  z.object({ kind: z.literal('tools'), names: z.array(z.string()), isBlamed: z.boolean() }),
  /** No reasoning and no opaque parts go back. */
  z.object({ kind: z.literal('thinking') }),
  /** A line of text stands for each picture. */
  z.object({ kind: z.literal('pictures') }),
  /** Calls and results are sent as text. */
  z.object({ kind: z.literal('flat') }),
])
export type Repair = z.infer<typeof repair>

/** Returns the provider's form and the parameters that are left out, as repairs change them. */
export function applyRepairs(form: Form, repairs: readonly Repair[]): { form: Form; without: string[] } {
  const leftOut = repairs.flatMap(one => (one.kind === 'tools' ? one.names : []))
  const without = repairs.flatMap(one => (one.kind === 'parameter' ? [one.name] : []))
  const has = (kind: Repair['kind']) => repairs.some(one => one.kind === kind)
  const needsDetails = form.history.foreignCall === 'gemini-details'
  const history = {
    ...form.history,
    ...(has('thinking') && { reasoning: 'none' as const }),
    // OpenRouter's Gemini refuses calls without a signature, so its stand-ins for thoughts stay.
    ...(has('thinking') && !needsDetails && { foreignCall: 'nothing' as const }),
    ...(has('pictures') && { images: 'none' as const }),
    ...(has('flat') && { flat: true }),
  }
  return {
    form: { ...form, history, tools: { ...form.tools, leftOut: [...form.tools.leftOut, ...leftOut] } },
    without,
  }
}

export function describeRepair(one: Repair): string {
  switch (one.kind) {
    case 'parameter':
      return `is asked without the parameter ${one.name}`
    case 'tools':
      return one.isBlamed
        ? `refuses the ${one.names.length === 1 ? 'tool' : 'tools'} ${one.names.join(', ')}`
        : `refuses one of the tools ${one.names.join(', ')}: the next requests find out which`
    case 'thinking':
      return 'does not get back what it thought before'
    case 'pictures':
      return 'is told of pictures in words'
    case 'flat':
      return 'is told earlier calls of tools as text'
    default:
      return one satisfies never
  }
}

/** Keeps repairs that helped, by provider and model. What it loads is not trusted. */
export interface QuirkStore {
  load(key: string): Promise<unknown>
  save(key: string, value: unknown): Promise<void>
}

/** A repair that helped, and when that was first seen, unix milliseconds. */
const quirks = z.array(z.object({ repair, since: z.number() })).catch([])
export type Quirk = z.infer<typeof quirks>[number]

/** Milliseconds after which a quirk is forgotten, since the model may have changed. */
const FORGOTTEN_AFTER = 7 * 24 * 3_600_000

/** Creates the quirks of one model of one provider, which are read from `store` once. */
export function createQuirks(key: string, store: QuirkStore, now: () => number) {
  let read: Promise<void> | undefined
  let all: readonly Quirk[] = []
  const known = () => all.filter(({ since }) => now() - since < FORGOTTEN_AFTER)
  const load = async () => {
    all = quirks.parse(await store.load(key))
  }
  return {
    /** Quirks that are loaded so far. */
    get known() {
      return known()
    },
    /** Returns the quirks that are not forgotten, and loads them the first time. */
    async current(): Promise<readonly Quirk[]> {
      read ??= load()
      await read
      return known()
    },
    async keep(repairs: readonly Repair[]) {
      const before = new Map(known().map(quirk => [JSON.stringify(quirk.repair), quirk]))
      all = repairs.map(one => before.get(JSON.stringify(one)) ?? { repair: one, since: now() })
      await store.save(key, all)
    },
  }
}
