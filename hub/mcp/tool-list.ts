import type { ServerResponse } from 'node:http'
import { readsText } from '../../schemas/text-readers.ts'
import { ANSWER_HEADERS } from '../core/answer-headers.ts'
import { toModernResult } from './call-tool.ts'
import type { SelfDescription } from './caller.ts'
import type { McpView, RawRequest } from './requests.ts'
import { listTools, type McpServerDeps } from './server.ts'

/** Serves the whole list of tools, which is serialized once for as long as it is the same. */
export class ToolList {
  readonly #deps: McpServerDeps
  #from: unknown
  #texts = { modern: Buffer.of(), legacy: Buffer.of() }

  constructor(deps: McpServerDeps) {
    this.#deps = deps
  }

  /** Tells whether a client sees the whole list as it is. */
  serves({ lean, toolset }: McpView, { name }: SelfDescription): boolean {
    return !lean && toolset === undefined && !readsText(name)
  }

  answer({ id }: RawRequest, era: 'legacy' | 'modern', response: ServerResponse): void {
    const head = Buffer.from(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`)
    const result = this.#read()[era]
    const length = head.length + result.length + 1
    response.writeHead(200, {
      ...ANSWER_HEADERS,
      'Content-Type': 'application/json',
      'Content-Length': length,
    })
    response.cork()
    response.write(head)
    response.write(result)
    response.end('}')
  }

  #read() {
    const { servers, serverInfo } = this.#deps
    if (servers.catalogue.tools === this.#from) return this.#texts
    this.#from = servers.catalogue.tools
    const list = listTools(servers)
    const modern = {
      ttlMs: 0,
      cacheScope: 'private',
      // Tools use `execution` to declare that they take part in tasks, an extension since 2026-07-28.
      tools: list.map(({ execution: _, ...tool }) => tool),
    }
    this.#texts = {
      modern: Buffer.from(JSON.stringify(toModernResult(modern, serverInfo))),
      legacy: Buffer.from(JSON.stringify({ tools: list })),
    }
    return this.#texts
  }
}
