import { ELICITATION } from '../core/server-question.ts'

/**
 * Maps each method by which a server may ask a client to the capability that the client has to declare for
 * it. In 2026-07-28 a server asks in a result, before that by a request.
 */
export const ASKED: ReadonlyMap<string, string> = new Map([
  ['sampling/createMessage', 'sampling'],
  [ELICITATION, 'elicitation'],
  ['roots/list', 'roots'],
])
