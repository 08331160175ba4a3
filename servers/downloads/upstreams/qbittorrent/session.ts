import type { Clock } from '../../../kit/clock.ts'
import { toSpanText } from '../../../kit/text.ts'
import { UpstreamFailure } from '../../../kit/upstream/failure.ts'
import type { RawAnswer, Upstream } from '../../../kit/upstream/upstream.ts'
import { type QbittorrentInstance, qbittorrentSpec } from '../../config.ts'

/**
 * Milliseconds before a rejected password is sent again: after five wrong ones qBittorrent bans the address
 * for an hour.
 */
const REJECTED_FOR = 15 * 60_000
const LOGIN = '/api/v2/auth/login'

/**
 * Adds to the requests of an upstream the cookie of a login, which is made at the first need and again after
 * it has expired. Without a user it does not log in, because qBittorrent can let addresses in without one.
 */
export function withLogin(
  instance: QbittorrentInstance,
  upstream: Upstream,
  clock: Clock,
): Pick<Upstream, 'title' | 'address' | 'get' | 'raw'> {
  const { USERNAME: username, PASSWORD: password } = instance.settings
  const credentials =
    username || password ? { username: username ?? '', password: password ?? '' } : undefined
  let login: Promise<string> | undefined
  let rejected: { at: number; error: UpstreamFailure } | undefined

  const logIn = async (): Promise<string> => {
    if (credentials === undefined) return ''
    const rest = rejected === undefined ? 0 : rejected.at + REJECTED_FOR - clock.monotonic()
    if (rejected && rest > 0) throw toHeld(rejected.error, rest)
    rejected = undefined
    const answer = await upstream.raw('POST', LOGIN, { body: { form: credentials } })
    const cookie = answer.headers
      .getSetCookie()
      .map(one => one.split(';', 1)[0])
      .join('; ')
    if (cookie !== '' || answer.text().trim() === 'Ok.') return cookie
    const error = toRejected(instance, upstream, answer)
    if (error.kind === 'unauthorized') rejected = { at: clock.monotonic(), error }
    throw error
  }
  const enter = async (): Promise<string> => {
    login ??= logIn()
    const current = login
    return current.catch(error => {
      if (login === current) login = undefined
      throw error
    })
  }
  const authorized = async <Result>(run: (headers: Record<string, string>) => Promise<Result>) => {
    const cookie = await enter()
    const current = login
    try {
      return await run(toHeaders(cookie))
    } catch (error) {
      if (!(error instanceof UpstreamFailure) || error.status !== 403) throw error
      if (credentials === undefined) throw toNeeded(instance, error)
      if (login === current) login = undefined
      return await run(toHeaders(await enter()))
    }
  }
  return {
    title: upstream.title,
    address: upstream.address,
    get: (path, options) => authorized(headers => upstream.get(path, { ...options, headers })),
    raw: (method, path, options) =>
      authorized(headers => upstream.raw(method, path, { ...options, headers })),
  }
}

function toHeaders(cookie: string): Record<string, string> {
  return cookie === '' ? {} : { cookie }
}

/** Recognises a wrong password, which is answered with 200 and "Fails." */
function toRejected(
  { variables }: QbittorrentInstance,
  { title, address }: Upstream,
  answer: RawAnswer,
): UpstreamFailure {
  const where = `POST ${address}${LOGIN}`
  if (answer.text().trim() === 'Fails.') {
    return new UpstreamFailure({
      kind: 'unauthorized',
      what: `${title} did not accept the user or the password.`,
      where,
      why: 'it answered "Fails." to the login',
      fix: `Check ${variables.USERNAME} and ${variables.PASSWORD} (${qbittorrentSpec.settings.PASSWORD.where}).`,
      status: answer.status,
    })
  }
  return new UpstreamFailure({
    kind: 'unexpected',
    what: `${title} answered the login in a form that is not known.`,
    where,
    why: 'it gave neither a session nor a refusal',
    fix: `Check that ${variables.URL} is the address of qBittorrent itself, and not of a login page or a proxy before it.`,
    status: answer.status,
  })
}

function toHeld({ failure, kind, status }: UpstreamFailure, rest: number): UpstreamFailure {
  const why = `${failure.why}; it was not asked again, since it locks out who fails often`
  const fix = `${failure.fix} The next login is tried in ${toSpanText(Math.ceil(rest / 1000))}, or when this server starts again.`
  return new UpstreamFailure({ ...failure, kind, status, why, fix })
}

function toNeeded({ variables }: QbittorrentInstance, error: UpstreamFailure): UpstreamFailure {
  const { failure, status } = error
  return new UpstreamFailure(
    {
      ...failure,
      kind: 'unauthorized',
      status,
      what: `${failure.what.replace(/ does not allow this\.$/, '')} wants a user and a password.`,
      fix: `Set ${variables.USERNAME} and ${variables.PASSWORD} (${qbittorrentSpec.settings.PASSWORD.where}).`,
    },
    { cause: error },
  )
}
