import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { isObject, type JsonObject } from '../core/forwarding.ts'

/** A server tells by it that a page is done with; clients of 2026-07-28 hear of no such thing. */
export const PAGE_DONE = 'notifications/elicitation/complete'

/** Above this many pages of one client the oldest is forgotten. */
const MOST_PAGES = 100

/** The pages that servers sent a client to, by their ids: of these alone it hears when they are done with. */
export interface Elicited {
  /** Notes the page that it is asked to open, where that is what it is asked. */
  asked(params: JsonObject): void
  /** Notes the pages that it has to open first, where that is what went wrong. */
  failed(error: unknown): void
  /** Whether a page is of this client; it is over then. */
  end(id: unknown): boolean
}

export function createElicited(): Elicited {
  const ids = new Set<unknown>()
  const add = ({ elicitationId }: JsonObject) => {
    if (typeof elicitationId !== 'string') return
    ids.add(elicitationId)
    const [oldest] = ids
    if (ids.size > MOST_PAGES) ids.delete(oldest)
  }
  return {
    asked: add,
    failed(error) {
      if (!(error instanceof ProtocolError) || error.code !== ProtocolErrorCode.UrlElicitationRequired) return
      const { elicitations } = isObject(error.data) ? error.data : {}
      if (Array.isArray(elicitations)) for (const page of elicitations) if (isObject(page)) add(page)
    },
    end: id => ids.delete(id),
  }
}
