import type { ServerResponse } from 'node:http'
import { readsText } from '../../schemas/text-readers.ts'
import type { Role } from '../../schemas/tokens.ts'
import { ANSWER_HEADERS } from '../core/answer-headers.ts'
import type { Principal } from '../core/principal.ts'
import { toModernResult } from './call-tool.ts'
import type { SelfDescription } from './caller.ts'
import type { Admitted, RawRequest } from './requests.ts'
import { listTools, type McpServerDeps } from './server.ts'

/** Serves the whole list of tools, which is serialized once for as long as it is the same. */
export class ToolList {
  readonly #deps: McpServerDeps
  #from: unknown
  readonly #texts = new Map<Role, { modern: Buffer; legacy: Buffer }>()

  constructor(deps: McpServerDeps) {
    this.#deps = deps
  }

  /** Tells whether a client sees the whole list of its role as it is. */
  serves({ view, principal }: Pick<Admitted, 'view' | 'principal'>, { name }: SelfDescription): boolean {
    const { lean, toolset } = view
    const isWhole = principal.role !== 'guest' && principal.tools === undefined
    return isWhole && !lean && toolset === undefined && !readsText(name)
  }

  answer(
    { id }: RawRequest,
    {
      principal,
      era,
      response,
    }: { principal: Principal; era: 'legacy' | 'modern'; response: ServerResponse },
  ): void {
    const head = Buffer.from(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`)
    const result = this.#read(principal)[era]
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

  #read(principal: Principal) {
    const { servers, serverInfo } = this.#deps
    if (servers.catalogue.tools !== this.#from) this.#texts.clear()
    this.#from = servers.catalogue.tools
    const known = this.#texts.get(principal.role)
    if (known) return known
    const list = listTools(this.#deps, principal)
    const modern = {
      ttlMs: 0,
      cacheScope: 'private',
      // Tools use `execution` to declare that they take part in tasks, an extension since 2026-07-28.
      tools: list.map(({ execution: _, ...tool }) => tool),
    }
    const texts = {
      modern: Buffer.from(JSON.stringify(toModernResult(modern, serverInfo))),
      legacy: Buffer.from(JSON.stringify({ tools: list })),
    }
    this.#texts.set(principal.role, texts)
    return texts
  }
}
