import { ELICITATION } from '../core/server-question.ts'

/**
 * What a server may ask a client for, and what a client declares to be asked so. In 2026-07-28 it asks by a result,
 * before by a request.
 */
export const ASKED: ReadonlyMap<string, string> = new Map([
  ['sampling/createMessage', 'sampling'],
  [ELICITATION, 'elicitation'],
  ['roots/list', 'roots'],
])
