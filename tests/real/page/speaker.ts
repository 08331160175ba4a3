import { delta, line, SSE, serve } from '../../support/provider.ts'
import { createRecord } from '../../support/until.ts'

/** One request to the provider, answered by the test piece by piece. */
export interface Speech {
  /** The body of the hub's request. */
  readonly request: string
  says(text: string): void
  calls(tool: string, args?: Record<string, unknown>): void
  ends(): void
  /** Fails permanently, like a provider that does not know the model. */
  breaks(): void
  /** Fails temporarily, like a provider that is rate limiting. */
  refuses(): void
}

/** Starts a provider on loopback whose every word waits for the test. */
export async function startSpeaker() {
  const speeches = createRecord<Speech>()
  const provider = await serve((response, request, call) => {
    if (call.method === 'GET') return void response.writeHead(404).end()
    response.writeHead(200, SSE)
    let reason = 'stop'
    speeches.add({
      request,
      says: text => void response.write(line(delta({ content: text }))),
      calls(tool, args = {}) {
        const call = { name: tool, arguments: JSON.stringify(args) }
        response.write(
          line(delta({ tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: call }] })),
        )
        reason = 'tool_calls'
      },
      breaks: () =>
        void response.end(
          line({ error: { status: 404, code: 'model_not_found', message: 'No such model' } }),
        ),
      refuses: () =>
        void response.end(
          line({ error: { status: 429, code: 'rate_limit_exceeded', message: 'Too many requests' } }),
        ),
      ends: () => void response.end(`${line(delta({}, reason))}${line('[DONE]')}`),
    })
  })
  return {
    /** Variables of a hub that uses this provider. */
    variables: { OPENAI_BASE_URL: provider.url, SUPERBLOOM_MODEL: 'speaker' },
    /** Resolves with speech number `which`, from 1. */
    speech: (which: number) =>
      speeches.find(`speech ${which} is asked for`, speech => speeches.all.indexOf(speech) === which - 1),
    get asked() {
      return speeches.all.length
    },
    [Symbol.asyncDispose]: () => provider[Symbol.asyncDispose](),
  }
}
