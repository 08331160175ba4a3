import type { Refusal } from './provider-error.ts'

/** How a provider wants the optional parts of a request. */
export interface Dialect {
  /** It knows `stream_options.include_usage`. */
  usage: boolean
  /** What it calls the most tokens of a reply. */
  limit: 'max_tokens' | 'max_completion_tokens'
}

/** OpenAI itself wants the newer name; most compatible providers know only the older. */
export function firstDialect(baseUrl: string): Dialect {
  const own = URL.canParse(baseUrl) && new URL(baseUrl).hostname === 'api.openai.com'
  return { usage: true, limit: own ? 'max_completion_tokens' : 'max_tokens' }
}

/** What to try next where a provider refused a request for its optional parts, or may have. */
export function decideDialect(dialect: Dialect, refusal: Refusal): Dialect | undefined {
  if (refusal.status !== 400 && refusal.status !== 422) return undefined
  if (refusal.kind === 'overflow') return undefined
  if (refusal.param === dialect.limit && isUnsupported(refusal.code)) {
    return { ...dialect, limit: dialect.limit === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens' }
  }
  const blamesOther = refusal.param !== undefined && !refusal.param.startsWith('stream_options')
  return dialect.usage && !blamesOther ? { ...dialect, usage: false } : undefined
}

function isUnsupported(code: string | undefined): boolean {
  return code === undefined || code === 'unsupported_parameter' || code === 'unknown_parameter'
}
