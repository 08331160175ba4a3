import express, { type NextFunction, type Request, type RequestHandler, type Response } from 'express'
import { HubError, toPublicError } from '../core/errors.ts'
import type { Log } from '../core/log.ts'
import { bearerOf, type Caller, type Doors } from './doors.ts'
import { createHookDoor, type HookDoorDeps } from './hooks.ts'
import { LARGEST_BODY } from './largest-body.ts'

export interface AppDeps {
  log: Log
  doors: Doors
  /** Whether the hub can do its work. */
  isReady: () => boolean
  /** Whether a caller may make one more request now. */
  mayPass: (caller: Caller) => boolean
  /** The page. */
  page: RequestHandler
  /** Serves MCP; the caller is admitted and the body is parsed. */
  mcp: (request: Request, response: Response, caller: Caller) => Promise<void>
  /** The names of the configured sets of tools. */
  toolsets: () => readonly string[]
  webhooks: Omit<HookDoorDeps, 'doors'>
}

/** Every HTTP door of the hub. */
export function createApp(deps: AppDeps): express.Express {
  const app = express()
  app.disable('x-powered-by')
  app.set('etag', false)
  app.use((request, response, next) => {
    response.setHeader('X-Content-Type-Options', 'nosniff')
    response.setHeader('Referrer-Policy', 'no-referrer')
    deps.doors.checkNames(request)
    next()
  })
  app.get('/healthz', (_request, response) => void response.json({ status: 'ok' }))
  app.get('/readyz', (_request, response) => {
    const ready = deps.isReady()
    response.status(ready ? 200 : 503).json({ status: ready ? 'ready' : 'starting' })
  })
  app.all(
    ['/mcp', '/mcp/:toolset'],
    admitTo(deps, 'MCP at /mcp'),
    checkToolset(deps),
    ...readJson,
    (request: Request, response: Response) =>
      deps.mcp(request, response, response.locals['caller'] as Caller),
  )
  app.post('/hooks/:name', ...createHookDoor({ doors: deps.doors, ...deps.webhooks }))
  app.use(deps.page)
  app.use((request: Request) => {
    throw new HubError('not_found', `There is nothing at ${request.method} ${request.path}`)
  })
  app.use(answerError(deps.log))
  return app
}

function checkToolset({ toolsets }: AppDeps): RequestHandler {
  return ({ params }, _response, next) => {
    const { toolset } = params
    const known = toolsets()
    if (typeof toolset === 'string' && !known.includes(toolset)) {
      const there = known.length > 0 ? `there is ${known.join(', ')}` : 'none is configured'
      throw new HubError(
        'not_found',
        `There is no toolset ${toolset} at /mcp: ${there} (toolsets in the config).`,
      )
    }
    next()
  }
}
/** After so long a source that was refused has room again. */
const RETRY_AFTER_S = 6

/** Puts the JSON of the body into `request.body`; a body that is something else is refused. */
const readJson: RequestHandler[] = [
  (request, _response, next) => {
    if (request.method === 'POST' && !request.is('application/json')) {
      const given = request.headers['content-type'] ?? 'none'
      throw new HubError('bad_request', `The Content-Type is ${given}; send application/json`)
    }
    next()
  },
  express.json({ limit: LARGEST_BODY }),
]

function admitTo(deps: AppDeps, door: string): RequestHandler {
  return (request, response, next) => {
    const caller = deps.doors.admit(request, bearerOf(request), door)
    if (!deps.mayPass(caller))
      throw new HubError('rate_limited', `${door}: too many requests at once; slow down.`)
    response.locals['caller'] = caller
    next()
  }
}

/** Errors as JSON; what is not meant for the outside shows no insides. */
function answerError(log: Log) {
  return (error: unknown, request: Request, response: Response, next: NextFunction) => {
    const door = `${request.method} ${request.path}`
    const { code, message, status } = toPublicError(fromExpress(error, door))
    if (status >= 500) log.error('request_failed', { error, path: request.path })
    if (response.headersSent) return next(error)
    if (status === 429) response.setHeader('Retry-After', RETRY_AFTER_S)
    if (status === 401) response.setHeader('WWW-Authenticate', 'Bearer realm="superbloom"')
    response.status(status).json({ error: { code, message } })
  }
}

/** What express and its parser of bodies refuse is the client's mistake, whatever they throw for it. */
function fromExpress(error: unknown, door: string): unknown {
  if (!(error instanceof Error) || error instanceof HubError) return error
  const type = 'type' in error ? error.type : undefined
  if (type === 'entity.too.large') {
    return new HubError('too_large', `The body of ${door} is over ${LARGEST_BODY} bytes`, { cause: error })
  }
  if (type === 'entity.parse.failed') {
    return new HubError('bad_request', `The body of ${door} is not JSON: ${error.message}`, { cause: error })
  }
  const status = 'status' in error ? Number(error.status) : 500
  if (status === 404) return new HubError('not_found', `There is nothing at ${door}`, { cause: error })
  return status >= 400 && status < 500
    ? new HubError('bad_request', `${door}: ${error.message}`, { cause: error })
    : error
}
