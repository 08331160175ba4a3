import type { Redact } from '../../../schemas/redact.ts'
import { describeError } from '../log.ts'
import { cleanText } from '../text.ts'
import { type FailureFacts, UpstreamFailure } from './failure.ts'

/**
 * Names that help a person correct an upstream's settings: its variables, and the page of the upstream that
 * shows the key.
 */
export interface UpstreamSettings {
  url?: string | undefined
  key?: string | undefined
  /** The page that shows the key: "Radarr: Settings > General". */
  where?: string | undefined
}

/** The request that failed, for messages. */
export interface FailedRequest {
  /** The upstream's name in sentences: "Radarr 4k". */
  title: string
  /** The base URL without secrets. */
  address: string
  method: string
  path: string
  settings: UpstreamSettings
  redact: Redact
}

type Words = Pick<FailureFacts, 'kind' | 'what' | 'fix' | 'transient'>

/** The words of one upstream, where the usual ones say too little. */
export interface Explain {
  /** Returns the words about a status; undefined for the usual ones. */
  status?(title: string, status: number, reason: string): Words | undefined
  /** Returns the words about a network error with this code (may be empty); undefined for the usual ones. */
  network?(failed: FailedRequest, code: string): Pick<FailureFacts, 'why' | 'fix'> | undefined
}

/** Codes of an answer that is not encrypted. */
const PLAIN_HTTP = new Set(['ERR_SSL_WRONG_VERSION_NUMBER', 'EPROTO', 'ERR_SSL_PACKET_LENGTH_TOO_LONG'])
const TLS = /^(CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|EPROTO)/

/** Builds a failure whose words are all redacted; its cause, if any, is kept only as text. */
export function toUpstreamFailure(
  failed: FailedRequest,
  facts: Omit<FailureFacts, 'where'>,
  cause?: unknown,
): UpstreamFailure {
  const { redact } = failed
  const path = failed.path.split('?', 1)[0]
  const url = failed.address.startsWith('/') ? `${path} at ${failed.address}` : `${failed.address}${path}`
  const where = redact(`${failed.method} ${url}`)
  const words = { what: redact(facts.what), why: redact(facts.why), fix: redact(facts.fix) }
  const told = cause === undefined ? undefined : new Error(redact(cleanText(describeError(cause), 300)))
  return new UpstreamFailure({ ...facts, ...words, where }, told === undefined ? undefined : { cause: told })
}

/**
 * Returns the failure of a request that got no answer; DNS errors, refused connections and TLS errors have
 * their own words.
 */
export function explainNetwork(
  failed: FailedRequest,
  error: unknown,
  explain: Explain = {},
): UpstreamFailure {
  const code = findCode(error)
  const { title, settings } = failed
  const host = URL.canParse(failed.address) ? new URL(failed.address).host : failed.address
  const setting = settings.url ?? 'the URL'
  const unsent = ['ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED'].includes(code)
  const what = `${title} could not be reached at ${failed.address}.`
  const say = (why: string, fix: string, transient = true) =>
    toUpstreamFailure(failed, { kind: 'unreachable', unsent, what, why, fix, transient }, error)
  const own = explain.network?.(failed, code)
  if (own) return say(own.why, own.fix)
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    const fix = `Check the host in ${setting}, or the DNS here.`
    return say(`the name ${host} could not be resolved (${code})`, fix)
  }
  if (code === 'ECONNREFUSED') {
    const fix = `Start ${title}, or check the host and the port in ${setting}.`
    return say(`nothing listens at ${host} (${code})`, fix)
  }
  if (TLS.test(code)) {
    const fix = PLAIN_HTTP.has(code)
      ? `It seems to speak plain HTTP there: try http:// in ${setting}.`
      : `Give it a certificate that this machine trusts (NODE_EXTRA_CA_CERTS adds one), or use http:// in ${setting}.`
    return say(`the encrypted connection to ${host} failed (${code})`, fix, false)
  }
  const reason = code === '' ? cleanText(describeError(error), 200) : code
  const fix = `Look whether ${title} runs, and check ${setting}.`
  return say(`the connection to ${host} failed (${reason})`, fix)
}

/**
 * Returns the failure of an answer without success. `reason` is the upstream's own text, cleaned; may be
 * empty.
 */
export function explainStatus(
  failed: FailedRequest,
  answer: { status: number; reason: string; retryAfter: number | undefined },
  explain: Explain = {},
): UpstreamFailure {
  const { status, reason, retryAfter } = answer
  const words = explain.status?.(failed.title, status, reason) ?? toWords(failed, status, retryAfter)
  const said = reason === '' ? '' : `: "${reason}"`
  return toUpstreamFailure(failed, { ...words, status, retryAfter, why: `it answered ${status}${said}` })
}

/** Returns the usual words about a status. */
function toWords({ title, settings }: FailedRequest, status: number, retryAfter: number | undefined): Words {
  const key = settings.key ?? 'its key or password'
  const where = settings.where === undefined ? '' : ` (${settings.where})`
  const say = (kind: Words['kind'], what: string, fix: string, transient?: boolean): Words => ({
    kind,
    what: `${title} ${what}`,
    fix,
    transient,
  })
  switch (status) {
    case 401:
      return say('unauthorized', 'did not accept the key or password.', `Check ${key}${where}.`)
    case 403:
      return say('forbidden', 'does not allow this.', `Check ${key}${where}, and what it may do there.`)
    case 404: {
      const url = settings.url ?? 'its URL'
      const fix = `Check the name or number; if everything of ${title} fails so, check the path in ${url}.`
      return say('not_found', 'has nothing like that.', fix)
    }
    case 429: {
      const wait = retryAfter === undefined ? 'a while' : `${Math.max(1, Math.ceil(retryAfter / 1000))} s`
      return say('rate_limited', 'gets too many requests.', `Wait ${wait}, then try again.`, true)
    }
    default: {
      if (status < 500)
        return say('refused', 'refused this.', 'Change what it complains about, then try again.')
      const fix = `Try again in a minute; if it stays so, look at ${title}'s log.`
      return say('server_error', 'failed inside.', fix, true)
    }
  }
}

/** Returns the failure of a redirect, which is never followed: it would send the key to an unknown host. */
export function explainRedirect(failed: FailedRequest, status: number, location: string): UpstreamFailure {
  const from = `${failed.address}${failed.path}`
  const target = URL.canParse(location, from) ? new URL(location, from) : undefined
  const shown = target ? `${target.origin}${target.pathname}` : 'nowhere that makes sense'
  const path = failed.path.split('?', 1)[0] ?? ''
  const base = target?.pathname.endsWith(path)
    ? `${target.origin}${target.pathname.slice(0, -path.length)}`
    : ''
  const setting = failed.settings.url ?? 'its URL'
  const fix =
    base !== '' && base !== failed.address
      ? `Set ${setting} to ${base}`
      : `Set ${setting} to where ${failed.title} answers itself, and check ${failed.settings.key ?? 'its key'}: it may ask for a login.`
  return toUpstreamFailure(failed, {
    kind: 'redirect',
    what: `${failed.title} is not at ${failed.address}: it sends elsewhere.`,
    why: `it answered ${status} and points to ${cleanText(shown)}`,
    fix,
    status,
  })
}

/** Returns the failure of an answer that has another shape than expected. */
export function toUnexpected(failed: FailedRequest, why: string, status?: number): UpstreamFailure {
  return toUpstreamFailure(failed, {
    kind: 'unexpected',
    what: `${failed.title} answered in a form that is not known.`,
    why,
    fix: `Its version may be one that this server does not know, or ${failed.settings.url ?? 'its URL'} points at another program.`,
    status,
  })
}

function findCode(error: unknown): string {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if ('code' in at && typeof at.code === 'string') return at.code
  }
  return ''
}
