import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import express, { type NextFunction, type Request, type RequestHandler, type Response } from 'express'
import { ANSWER_HEADERS, secure } from '../core/answer-headers.ts'
import { HubError, toPublicError } from '../core/errors.ts'
import type { Log } from '../core/log.ts'
import type { McpRequest } from '../core/mcp-request.ts'
import type { DoorAudit } from '../store/door-audit.ts'
import type { Authorization } from './authorization/authorization.ts'
import { type ButtonDoorDeps, createButtonDoor, isForButton, toLoggedPath } from './button-door.ts'
import { bearerOf, ForeignHost, LARGEST_BODY } from './doors.ts'
import { createFilesDoor, type FilesDoorDeps } from './files/door.ts'
import { sendForeignHostPage } from './foreign-host-page.ts'
import { createHookDoor, type HookDoorDeps } from './hooks.ts'
import { createLoginDoors, type LoginDoorDeps } from './login-doors.ts'
import { isForMcp, type McpDoorDeps, serveMcp } from './mcp-door.ts'
import type { Metrics } from './metrics/metrics.ts'
import { createOpenAiDoor, isForOpenAi, type OpenAiDoorDeps } from './openai/door.ts'
import { createPushDoor, type PushDoorDeps } from './push-door.ts'
import { createSessionDoor, type SessionDoorDeps } from './session-door.ts'

export interface AppDeps extends McpDoorDeps {
  log: Log
  authorization: Authorization
  audit: DoorAudit
  /** Tells whether the hub can do its work. */
  isReady: () => boolean
  /** Serves the page. */
  page: RequestHandler
  webhooks: Omit<HookDoorDeps, 'doors' | 'refuse'>
  logins: Omit<LoginDoorDeps, 'doors' | 'audit'>
  buttons: ButtonDoorDeps['buttons']
  push: PushDoorDeps['push']
  metrics: Metrics
  tokens: SessionDoorDeps['tokens']
  openai: OpenAiDoorDeps['openai']
  files: FilesDoorDeps['files']
}

/** Creates the HTTP handler with every endpoint of the hub. */
export function createApp(deps: AppDeps): RequestListener {
  const app = express()
  app.disable('x-powered-by')
  app.set('etag', false)
  app.use((request, response, next) => {
    secure(response)
    if (isForButton(request.path)) deps.doors.checkHost(request)
    else deps.doors.checkNames(request)
    next()
  })
  app.get('/healthz', (_request, response) => void response.json({ status: 'ok' }))
  app.get('/readyz', (_request, response) => {
    const ready = deps.isReady()
    response.status(ready ? 200 : 503).json({ status: ready ? 'ready' : 'starting' })
  })
  app.get('/metrics', async (request, response) => {
    deps.doors.admit(request, bearerOf(request), { door: 'Metrics at /metrics', right: 'metrics' })
    const text = await deps.metrics.text()
    response.setHeader('Content-Type', deps.metrics.contentType)
    response.end(text)
  })
  app.post(
    '/hooks/:name',
    ...createHookDoor({ ...deps.webhooks, doors: deps.doors, refuse: deps.audit.refuse }),
  )
  app.use(deps.authorization.door)
  app.use(createLoginDoors({ ...deps.logins, doors: deps.doors, audit: deps.audit }))
  app.use(createSessionDoor(deps))
  app.use(createPushDoor(deps))
  app.use(createButtonDoor(deps))
  app.use(createOpenAiDoor(deps))
  app.use(createFilesDoor(deps))
  app.use(deps.page)
  app.use((request: Request) => {
    throw new HubError('not_found', `There is nothing at ${request.method} ${request.path}`)
  })
  app.use((error: unknown, request: Request, response: Response, next: NextFunction) => {
    if (response.headersSent) next(error)
    else if (error instanceof ForeignHost && request.accepts(['json', 'html']) === 'html')
      sendForeignHostPage(response, error)
    else refuse(request, response, fromExpress(error, `${request.method} ${request.path}`), deps.log)
  })
  return (request, response) => {
    response.once('close', () => {
      const status = response.headersSent ? response.statusCode : CLIENT_LEFT
      deps.metrics.countAnswer(doorOf(request), status)
    })
    if (!isForMcp(request)) return app(request, response)
    serveMcp(deps, request as McpRequest, response).catch(error => {
      if (response.headersSent) response.destroy()
      else refuse(request, response, error, deps.log, deps.authorization.challenge(request))
    })
  }
}

/** The status under which a request counts whose client left before the answer, as others count it. */
const CLIENT_LEFT = 499

const DOORS = new Set([
  'mcp',
  'hooks',
  'a',
  'v1',
  'oauth',
  'session',
  'files',
  'metrics',
  'healthz',
  'readyz',
])

/** Returns the door of a request, for its figures: `page` for everything that is no other door. */
function doorOf({ url = '' }: IncomingMessage): string {
  const [, first = ''] = /^\/([^/?]*)/.exec(url) ?? []
  return DOORS.has(first) ? first : 'page'
}

/** Seconds after which a refused source may try again. */
const RETRY_AFTER_S = 6

/** Answers with an error as JSON; an error that is not meant for the outside shows no internals. */
function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
  log: Log,
  challenge = 'Bearer realm="superbloom"',
): void {
  const { code, message, status } = toPublicError(error)
  if (status >= 500) log.error('request_failed', { error, path: toLoggedPath(request.url?.split('?', 1)[0]) })
  if (status === 429) response.setHeader('Retry-After', RETRY_AFTER_S)
  if (status === 401) response.setHeader('WWW-Authenticate', challenge)
  const isTyped = isForOpenAi(request.url?.split('?', 1)[0] ?? '')
  const text = JSON.stringify({
    error: { code, message, ...(isTyped ? { type: toErrorType(status), param: null } : {}) },
  })
  response.writeHead(status, {
    ...ANSWER_HEADERS,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
  })
  response.end(text)
}

/** Returns the type that clients of an OpenAI-compatible API expect beside a code. */
function toErrorType(status: number): string {
  if (status === 429) return 'rate_limit_error'
  return status >= 500 ? 'server_error' : 'invalid_request_error'
}

/** Turns what express and its body parser refuse into the client's mistake, whatever they throw for it. */
function fromExpress(error: unknown, door: string): unknown {
  if (!(error instanceof Error) || error instanceof HubError) return error
  const type = 'type' in error ? error.type : undefined
  if (type === 'entity.too.large') {
    return new HubError(
      'too_large',
      `The body of ${door} is over ${'limit' in error ? error.limit : LARGEST_BODY} bytes`,
      { cause: error },
    )
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
