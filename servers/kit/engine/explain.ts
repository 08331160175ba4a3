import { cleanText, toByteText, toSpanText } from '../text.ts'
import { type Asked, explainNetwork, explainStatus } from '../upstream/explain.ts'
import { type FailureFacts, UpstreamFailure } from '../upstream/failure.ts'
import { findReason } from '../upstream/reason.ts'

/** A request as messages describe it. */
export interface Request {
  /** The engine's title: "Docker". */
  title: string
  /** "/var/run/docker.sock" or "http://nas:2375". */
  address: string
  /** The API's name: "the API of Docker or Podman". */
  api: string
  method: string
  path: string
}

const SETTING = 'DOCKER_HOST or the ENGINE_…_URL'
type Words = Omit<FailureFacts, 'where'>

/** Converts a redirect, a refusal or an error of the engine to a failure. `body` is the answer's text. */
export function explainAnswer(request: Request, status: number, body: string): UpstreamFailure {
  const reason = findReason(body)
  const why = `it answered ${status}${reason === '' ? '' : `: "${reason}"`}`
  const say = (words: Omit<Words, 'why' | 'status'>) => toFailure(request, { ...words, why, status })
  const { title } = request
  if (status >= 300 && status < 400) return toRedirect(request, why)
  if (status === 403) {
    return say({
      kind: 'forbidden',
      what: `${title} does not allow this.`,
      fix: 'Where a proxy guards the socket, let it allow this: CONTAINERS=1 and EVENTS=1 to look, POST=1 to change.',
    })
  }
  if (status === 404) {
    return say({
      kind: 'not_found',
      what: `${title} has no such container.`,
      fix: 'Look for its name in the list of containers.',
    })
  }
  if (status === 409) {
    return say({
      kind: 'refused',
      what: `${title} cannot do this to the container as it is now.`,
      fix: 'Look at its state: it may be on its way out, paused or ended.',
    })
  }
  if (status === 500) {
    return say({
      kind: 'server_error',
      what: `${title} failed to do this.`,
      fix: `What it says tells why: often the container's own settings (its command, a port, a volume). The log of ${title} says more.`,
      transient: true,
    })
  }
  return explainStatus(toAsked(request), { status, reason, retryAfter: undefined })
}

/** Converts the error of a request without an answer to a failure. */
export function explainError(request: Request, error: unknown): Error {
  if (!request.address.startsWith('/')) return explainNetwork(toAsked(request), error)
  const { title, address } = request
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const say = (why: string, fix: string) =>
    toFailure(
      request,
      {
        kind: 'unreachable',
        what: `${title} could not be reached at ${address}.`,
        why,
        fix,
        transient: true,
      },
      error,
    )
  if (code === 'ENOENT') {
    return say(
      'there is no such socket',
      `Is ${title} running? In a container, mount the socket into it (-v ${address}:${address}); if it is elsewhere, set ${SETTING}.`,
    )
  }
  if (code === 'EACCES' || code === 'EPERM') {
    return say(
      'this user may not use the socket',
      `Add the user that runs this to the socket's group (usually: usermod -aG docker USER, then log in anew; in a container: --group-add with the number of that group).`,
    )
  }
  if (code === 'ECONNREFUSED' || code === 'ENOTSOCK') {
    return say('nothing listens at the socket', `Start ${title}: its socket is there, but it does not run.`)
  }
  return say(
    `the connection broke (${code === '' ? 'it ended too early' : code})`,
    `Try once more; if it stays so, look at the log of ${title}.`,
  )
}

/**
 * Returns the failure of a redirect, which is never followed: it would send a change, or a token, to an
 * unknown host.
 */
export function toRedirect(request: Request, why: string): UpstreamFailure {
  const { title, address, api } = request
  return toFailure(request, {
    kind: 'redirect',
    what: `${title} is not at ${address}: it sends elsewhere.`,
    why,
    fix: `Its address must be that of ${api} itself, and not of a login page or a proxy that sends elsewhere.`,
  })
}

export function toTimeout(request: Request, limit: number): UpstreamFailure {
  const { title, address } = request
  return toFailure(request, {
    kind: 'timeout',
    what: `${title} did not answer within ${toSpanText(limit / 1000)}.`,
    why: `no whole answer came from ${address} in that time`,
    fix: `Try once more; if it stays so, look whether ${title} hangs: its log says more.`,
    transient: true,
  })
}

export function toTooLarge(request: Request, max: number): UpstreamFailure {
  return toFailure(request, {
    kind: 'too_large',
    what: `${request.title} answered with more than can be taken.`,
    why: `the answer is longer than ${toByteText(max)}`,
    fix: 'Ask for less at a time.',
  })
}

/** Returns the failure of an answer that has another shape than expected. */
export function toUnexpected(request: Request, why: string): UpstreamFailure {
  return toFailure(request, {
    kind: 'unexpected',
    what: `${request.title} answered in a form that is not known.`,
    why,
    fix: toOtherProgram(request),
  })
}

export function toNotJson(request: Request, text: string): UpstreamFailure {
  const page = /^\s*</.test(text)
  return toFailure(request, {
    kind: 'not_json',
    what: `${request.title} did not answer with JSON.`,
    why: page ? 'it answered with a web page' : `it answered with no JSON: "${cleanText(text, 60)}"`,
    fix: toOtherProgram(request),
  })
}

const toOtherProgram = ({ address, api }: Request) =>
  `Check that ${address} is ${api}, and not of another program.`

export function toFailure(request: Request, words: Words, cause?: unknown): UpstreamFailure {
  const where = `${request.method} ${request.path} at ${request.address}`
  return new UpstreamFailure({ ...words, where }, cause === undefined ? undefined : { cause })
}

function toAsked(request: Request): Asked {
  return { ...request, settings: { url: SETTING }, redact: text => text }
}
