import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { isObject, type JsonObject } from '../core/forwarding.ts'

/** Notification by which a server reports that a page is done; clients of 2026-07-28 do not get it. */
export const PAGE_DONE = 'notifications/elicitation/complete'

/** Pages of one client that are remembered; above that the oldest is forgotten. */
const MOST_PAGES = 100

/** The pages that servers sent one client to, by id. The client is notified of the end of these only. */
export interface Elicited {
  /** Notes the page that the client is asked to open, if it is asked that. */
  asked(params: JsonObject): void
  /** Notes the pages that the client has to open first, if the error says so. */
  failed(error: unknown): void
  /** Tells whether a page is this client's, and forgets it. */
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
