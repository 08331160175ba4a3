import type { IncomingMessage, ServerResponse } from 'node:http'
import { PROTOCOL_VERSION_META_KEY, SERVER_INFO_META_KEY, type Tool } from '@modelcontextprotocol/server'
import { ANSWER_HEADERS } from '../core/answer-headers.ts'
import { isObject, type JsonObject } from '../core/forwarding.ts'
import type { Below } from './below.ts'
import { isOfLegacy, isOfModern } from './lane-call.ts'

export interface ListLaneDeps {
  below: Pick<Below, 'tools'>
  serverInfo: object
  /** The hub's own tools and the servers'. */
  tools: () => readonly Tool[]
}

type ListRequest = JsonObject & { id: string | number }

/** Serves the whole list of tools, written once for as long as it is the same. */
export interface ListLane {
  takesModern(request: IncomingMessage, body: unknown): body is ListRequest
  takesLegacy(request: IncomingMessage, body: unknown): body is ListRequest
  serve(body: ListRequest, response: ServerResponse): void
}

export function createListLane({ below, serverInfo, tools }: ListLaneDeps): ListLane {
  let from: readonly Tool[] | undefined
  let texts = { modern: Buffer.of(), legacy: Buffer.of() }
  const read = () => {
    const now = below.tools()
    if (now === from) return texts
    from = now
    const list = tools()
    const modern = {
      resultType: 'complete',
      ttlMs: 0,
      cacheScope: 'private',
      _meta: { [SERVER_INFO_META_KEY]: serverInfo },
      // Tools use `execution` to declare that they take part in tasks, an extension since 2026-07-28.
      tools: list.map(({ execution: _, ...tool }) => tool),
    }
    texts = {
      modern: Buffer.from(JSON.stringify(modern)),
      legacy: Buffer.from(JSON.stringify({ tools: list })),
    }
    return texts
  }
  return {
    takesModern: (request, body): body is ListRequest =>
      isWholeList(body) && isOfModern(request, body['params'], 'tools/list'),
    takesLegacy: (request, body): body is ListRequest => isWholeList(body) && isOfLegacy(request),
    serve({ id, params }, response) {
      const { modern, legacy } = read()
      const result =
        isObject(params) && isObject(params['_meta']) && isModernMeta(params['_meta']) ? modern : legacy
      const head = Buffer.from(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`)
      const length = head.length + result.length + 1
      const type = { 'Content-Type': 'application/json', 'Content-Length': length }
      response.writeHead(200, { ...ANSWER_HEADERS, ...type })
      response.cork()
      response.write(head)
      response.write(result)
      response.end('}')
    },
  }
}

function isModernMeta(meta: JsonObject): boolean {
  return PROTOCOL_VERSION_META_KEY in meta
}

function isWholeList(body: unknown): body is ListRequest {
  if (!isObject(body) || body['method'] !== 'tools/list' || body['jsonrpc'] !== '2.0') return false
  const { id, params = {} } = body
  return (
    (typeof id === 'string' || typeof id === 'number') && isObject(params) && params['cursor'] === undefined
  )
}
