import { HubError } from '../../core/errors.ts'
import type { Asker, JsonObject } from '../../core/forwarding.ts'
import { ELICITATION } from '../../core/server-question.ts'
import type { Sample } from '../deps.ts'
import { type AskDeps, askPerson, type Party } from './ask-person.ts'

/** Questions that one call may ask, so that a server cannot ask for ever. */
const MOST_QUESTIONS = 20

/**
 * Answers what a server asks during one call of an agent: a person of its conversation decides, and its model
 * writes if `sample` is given. Disposing it ends what is still open.
 */
export function openAsker(deps: AskDeps, party: Party, sample?: Sample): Asker & AsyncDisposable {
  const ended = new AbortController()
  const open = new Set<Promise<JsonObject>>()
  let count = 0
  const answer = (method: string, params: JsonObject, signal: AbortSignal) => {
    if (++count > MOST_QUESTIONS)
      throw new HubError('rate_limited', `One call may ask ${MOST_QUESTIONS} times at most`)
    if (method === ELICITATION) return askPerson(deps, party, params, signal)
    if (method === 'sampling/createMessage' && sample) return sample(params, signal)
    throw new HubError('bad_request', `Agents do not answer ${method}`)
  }
  return {
    key: party.thread,
    capabilities: { elicitation: { form: {}, url: {} }, ...(sample ? { sampling: {} } : {}) },
    repeats: false,
    async ask(method, params, signal) {
      const asked = answer(method, params, AbortSignal.any([signal, ended.signal]))
      open.add(asked)
      try {
        return await asked
      } finally {
        open.delete(asked)
      }
    },
    async [Symbol.asyncDispose]() {
      ended.abort(new HubError('conflict', 'The call has ended'))
      await Promise.allSettled(open)
    },
  }
}
