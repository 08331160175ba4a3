import type { ModelEntry } from '../adapter.ts'
import { toShownUrl } from '../ask-json.ts'

const TIMEOUT = 60_000
/**
 * Milliseconds for addresses without encryption: a local server may first load the model, or read a long
 * prompt slowly.
 */
const TIMEOUT_AT_HOME = 5 * 60_000

/** Returns the milliseconds within which the reply has to begin. */
export function timeoutOf({ baseUrl, timeout }: ModelEntry): number {
  return timeout ?? (baseUrl.startsWith('http:') ? TIMEOUT_AT_HOME : TIMEOUT)
}

/**
 * Returns the family of an entry's reasoning and opaque parts. They go back only to the address that they
 * came from: another one with a model of that name cannot read the signatures, and must not see the thoughts.
 */
export function familyOf({ provider, model, baseUrl }: Pick<ModelEntry, 'provider' | 'model' | 'baseUrl'>) {
  return `${provider}/${model} at ${toShownUrl(baseUrl)}`
}

/** Both names for the most tokens of a reply: a server that does not know one of them knows the other. */
const LIMITS = ['max_tokens', 'max_completion_tokens'] as const

/** Returns a function that edits a request's body: it removes parameters, then adds the configured ones. */
export function editOf(
  { body: added }: ModelEntry,
  without: readonly string[],
): ((body: Record<string, unknown>) => object) | undefined {
  if (!added && without.length === 0) return undefined
  return body => {
    const limit = LIMITS.map(name => body[name]).find(value => value !== undefined)
    const known = LIMITS.find(name => !without.includes(name))
    if (limit !== undefined && known && LIMITS.some(name => without.includes(name))) body[known] = limit
    for (const path of without) remove(body, path.split('.'))
    return { ...body, ...added }
  }
}

function remove(fields: unknown, [name, ...rest]: string[]): void {
  if (name === undefined || typeof fields !== 'object' || fields === null) return
  // Google says `generation_config` for what is sent as `generationConfig`.
  const key = name in fields ? name : name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
  if (rest.length > 0) remove(Reflect.get(fields, key), rest)
  else Reflect.deleteProperty(fields, key)
}
