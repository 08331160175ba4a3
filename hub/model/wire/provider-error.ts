import { z } from 'zod'
import { providerOf } from '../../../schemas/providers.ts'
import { parseJson } from '../../core/json.ts'
import { ModelError, type ModelErrorKind } from '../../core/model.ts'
import { stripControl, toSpan, truncate } from '../../core/text.ts'
import type { ModelEntry } from '../adapter.ts'
import { adviseTools } from '../local-servers.ts'

/** What error messages say of the model's address: a part of its entry in the configuration. */
export type Endpoint = Pick<ModelEntry, 'baseUrl'> &
  Partial<Pick<ModelEntry, 'provider' | 'apiKey' | 'model'>>

type RefusalKind = Exclude<ModelErrorKind, 'broken_stream' | 'unavailable'>

/** The answer of a provider that refused or failed. */
export interface Refusal {
  kind: RefusalKind
  /** Status of the response, or the status that an error within a stream stands for. */
  status: number | undefined
  code: string | undefined
  param: string | undefined
  /** The provider's own words. */
  said: string | undefined
}

/** Codes of OpenAI and those who follow it, of llama.cpp (as the error's type), and of GitHub Copilot. */
const OVERFLOW_CODES = [
  'context_length_exceeded',
  'exceed_context_size_error',
  'model_max_prompt_tokens_exceeded',
]
/** Status of a response with each code, for errors in a stream (https://docs.claude.com/en/api/errors). */
const CODE_STATUS: Record<string, number> = {
  authentication_error: 401,
  invalid_api_key: 401,
  // Google answers with status 400: https://github.com/google-gemini/gemini-cli/issues/25198
  API_KEY_INVALID: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  model_not_found: 404,
  request_too_large: 413,
  rate_limit_exceeded: 429,
  rate_limit_error: 429,
  insufficient_quota: 429,
}
/** Code for a call that the model's host could not read (Groq); asked again, the model writes another. */
const UNREADABLE_CALL = 'tool_use_failed'
const SAID_LENGTH = 300

/** Reads an error object of a response (with its status) or of an event within a stream (without). */
export function toRefusal(error: unknown, status?: number): Refusal {
  const fields = isRecord(error) ? { ...fromDetail(error['detail']), ...fromGoogle(error), ...error } : {}
  const inner = readInner(fields['metadata'])
  const codes = [fields['code'], fields['type'], fields['reason'], inner?.code].filter(isText)
  const given = [fields['status'], fields['code']].map(toStatus).find(each => each !== undefined)
  const known = status ?? given ?? statusOf(codes)
  const said = [error, fields['message'], fields['detail']].find(isText)
  return {
    kind: decideKind(known, codes),
    status: known,
    code: inner?.code ?? (isText(fields['code']) ? fields['code'] : undefined),
    param: inner?.param ?? (isText(fields['param']) ? fields['param'] : undefined),
    said: inner?.said === undefined ? said : `${said}: ${inner.said}`,
  }
}

/** Reads the refused part of a request from FastAPI's kind of error, as Mistral sends it. */
function fromDetail(detail: unknown): Record<string, unknown> {
  const first: unknown = Array.isArray(detail) ? detail[0] : undefined
  if (!isRecord(first) || !Array.isArray(first['loc'])) return {}
  return { code: first['type'], param: first['loc'].slice(1).join('.'), message: first['msg'] }
}

const googleError = z.object({
  details: z.array(
    z.object({
      fieldViolations: z.array(z.object({ field: z.string() })).optional(),
      reason: z.string().optional(),
    }),
  ),
})

/** Reads the reason and the refused part of a request from Google's error. */
function fromGoogle(error: unknown): Record<string, unknown> {
  const { details = [] } = googleError.safeParse(error).data ?? {}
  const [first] = details.flatMap(({ fieldViolations = [] }) => fieldViolations)
  const reason = details.find(detail => detail.reason !== undefined)?.reason
  return { ...(first ? { param: first.field } : {}), ...(reason === undefined ? {} : { reason }) }
}

/** Reads the error of the provider behind OpenRouter, which comes as text within OpenRouter's own error. */
function readInner(metadata: unknown): Refusal | undefined {
  const raw = isRecord(metadata) ? metadata['raw'] : undefined
  const parsed = isText(raw) ? parseJson(raw) : undefined
  if (!isRecord(parsed)) return isText(raw) ? toRefusal(raw) : undefined
  return toRefusal(parsed['error'] ?? parsed)
}

function decideKind(status: number | undefined, codes: string[]): RefusalKind {
  const mayOverflow = status === undefined || status === 400 || status === 422
  if (status === 413 || (mayOverflow && codes.some(code => OVERFLOW_CODES.includes(code)))) return 'overflow'
  if (codes.includes(UNREADABLE_CALL)) return 'server'
  if (status === 429) return 'rate_limit'
  const isUnauthorized = codes.some(code => CODE_STATUS[code] === 401)
  if (status === 401 || status === 403 || (status === 400 && isUnauthorized)) return 'auth'
  return status === undefined || status === 408 || status >= 500 ? 'server' : 'rejected'
}

/**
 * Returns the status that codes stand for. All providers with codes such as `invalid_request_error`,
 * `invalid_prompt` and `invalid_image_format` mean the request.
 */
function statusOf(codes: readonly string[]): number | undefined {
  const known = codes.map(code => CODE_STATUS[code]).find(status => status !== undefined)
  return known ?? (codes.some(code => code.startsWith('invalid_')) ? 400 : undefined)
}

/** Returns the error's object in an event of a stream, wherever it is; undefined in any other event. */
export function errorIn(event: unknown): unknown {
  if (!isRecord(event)) return undefined
  const { error, response, type, object } = event
  if (error) return error
  if (isRecord(response) && response['error']) return response['error']
  return type === 'error' || object === 'error' ? event : undefined
}

/** Returns the error to throw for a refusal, with a message for a person and nowhere the key. */
export function toModelError(
  endpoint: Endpoint,
  refusal: Refusal,
  { retryAfter, cause }: { retryAfter?: number | undefined; cause?: unknown } = {},
): ModelError {
  const mark = [refusal.status, refusal.code].filter(part => part !== undefined).join(' ')
  const said = refusal.said ? ` It said: "${truncate(stripControl(refusal.said), SAID_LENGTH)}"` : ''
  const message = `${describe(endpoint, refusal, mark ? ` (${mark})` : '', retryAfter)}${said}`
  return new ModelError(refusal.kind, withoutKey(endpoint, message), {
    status: refusal.status,
    refusal: refusal.status === undefined ? undefined : { ...refusal, status: refusal.status },
    retryAfter,
    cause,
  })
}

function describe(
  endpoint: Endpoint,
  refusal: Refusal,
  mark: string,
  retryAfter: number | undefined,
): string {
  const who = describeProvider(endpoint)
  const variable = nameKey(endpoint)
  switch (refusal.kind) {
    case 'rate_limit':
      return refusal.code === 'insufficient_quota'
        ? `${who} says that the account's quota is used up${mark}. Check its credit and limits.`
        : `${who} takes no more requests for now${mark}. Try again ${retryAfter === undefined ? 'later' : `in ${toSpan(retryAfter)}`}.`
    case 'auth':
      return !endpoint.apiKey
        ? `${who} wants a key${mark}. Set ${variable}, or apiKey of the model in superbloom.yaml.`
        : `${who} refused the key${mark}. Check ${variable}, or apiKey of the model in superbloom.yaml.`
    case 'overflow':
      return `The request is longer than ${nameModel(endpoint)} at ${displayUrl(endpoint)} takes${mark}. Check that SUPERBLOOM_MODEL_CONTEXT is not more than its context.`
    case 'rejected':
      return `${who} refused the request${mark}.${describeRejection(endpoint, refusal)}`
    case 'network':
      return `${who} cannot be reached${mark}. Check that it runs, and that this is its address.`
    case 'server':
      return `${who} failed${mark}. The cause is on its side: see its log or status page, or try again later.`
    default:
      return refusal.kind satisfies never
  }
}

function describeRejection(endpoint: Endpoint, { status, said = '' }: Refusal): string {
  if (status === 402) return ` It wants to be paid: check the account's credit.`
  if (status !== 404 && status !== 405) return ''
  // The words only choose the advice: OpenRouter has the model, but no host of it that takes tools.
  if (/support\w* (the )?(tool|function)/i.test(said)) return ` ${adviseTools(undefined)}`
  return ` Check ${nameAddress(endpoint)} (most end in /v1) and that it has ${nameModel(endpoint)} (SUPERBLOOM_MODEL).`
}

/** Returns the error of a broken stream. `what` tells what the provider did, and follows its name. */
export function brokenStream(endpoint: Endpoint, what: string, cause?: unknown): ModelError {
  return new ModelError('broken_stream', `${describeProvider(endpoint)} ${what}.`, { cause })
}

/** Returns the error for a request that the provider's package does not make. */
export function unsent(endpoint: Endpoint, { message }: Error): ModelError {
  const what = `${describeProvider(endpoint)} was not asked: ${message}`
  return new ModelError('rejected', withoutKey(endpoint, what))
}

export function filtered(endpoint: Endpoint): ModelError {
  return new ModelError('rejected', `${describeProvider(endpoint)} stopped the reply by its content filter.`)
}

export function describeProvider(endpoint: Endpoint): string {
  return `The provider at ${displayUrl(endpoint)}`
}

/** Names the environment variable with the key. */
export function nameKey({ provider }: Endpoint): string {
  return providerOf(provider)?.keyVariable ?? 'OPENAI_API_KEY'
}

/** Names the setting that has the provider's address. */
export function nameAddress(endpoint: Endpoint): string {
  return nameKey(endpoint) === 'OPENAI_API_KEY' ? 'OPENAI_BASE_URL' : 'baseUrl of the model'
}

/** Returns the address without user, password and query, which may be secret. */
function displayUrl({ baseUrl }: Endpoint): string {
  if (!URL.canParse(baseUrl)) return 'an address that is none (see OPENAI_BASE_URL)'
  const { origin, pathname } = new URL(baseUrl)
  return `${origin}${pathname.replace(/\/$/, '')}`
}

function nameModel({ model }: Endpoint): string {
  return model === undefined ? 'the model' : `the model "${model}"`
}

/** Removes the key, which a provider may quote in its own words. */
function withoutKey({ apiKey = '' }: Endpoint, message: string): string {
  return apiKey.length < 4 ? message : message.replaceAll(apiKey, '[key]')
}

function toStatus(value: unknown): number | undefined {
  const status = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value
  return typeof status === 'number' && status >= 400 && status <= 599 ? status : undefined
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
