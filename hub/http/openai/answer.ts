import type { Response } from 'express'
import type { JsonObject } from '../../core/forwarding.ts'

/** The tokens of a model, as they are counted on both sides of an OpenAI-compatible API. */
export interface Usage {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
}

export interface Head {
  id: string
  /** Unix seconds. */
  created: number
  model: string
}

/** Returns a whole answer. */
export function toCompletion(head: Head, text: string, usage: Usage): JsonObject {
  const message = { role: 'assistant', content: text, refusal: null }
  const choices = [{ index: 0, message, logprobs: null, finish_reason: 'stop' }]
  return { ...head, object: 'chat.completion', choices, usage }
}

/** An answer that is sent in pieces. */
export interface TextStream {
  /**
   * Sends what is new of the text of the present step. A reader that is slower gets it later, or only with the
   * whole reply, so that nothing piles up.
   */
  show(text: string): void
  /** Begins another text after the present one. */
  part(): void
  /** Tells the reader that the work goes on. */
  keepAlive(): void
  /** Sends what is left of the reply; all of it if what was shown is not its beginning. */
  end(reply: string, usage: Usage | undefined): void
}

export function openTextStream(response: Response, head: Head): TextStream {
  let shown = ''
  let separator = ''
  const send = (choices: object[], more: object = {}) =>
    response.write(
      `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices, ...more })}\n\n`,
    )
  const sendDelta = (delta: object, finish_reason: string | null = null) =>
    send([{ index: 0, delta, logprobs: null, finish_reason }])
  const part = () => {
    if (shown !== '') separator = '\n\n'
    shown = ''
  }
  const show = (text: string) => {
    const rest = text.slice(shown.length)
    if (rest === '') return
    sendDelta({ content: separator + rest })
    separator = ''
    shown = text
  }
  response.setHeader('Content-Type', 'text/event-stream; charset=utf-8')
  response.setHeader('Cache-Control', 'no-cache')
  // nginx would keep the pieces back.
  response.setHeader('X-Accel-Buffering', 'no')
  sendDelta({ role: 'assistant', content: '' })
  return {
    show: text => {
      if (!response.writableNeedDrain) show(text)
    },
    part,
    // A comment line would do for most; Home Assistant's Local LLMs reads every line as a chunk.
    keepAlive: () => {
      if (!response.writableNeedDrain) sendDelta({ content: '' })
    },
    end(reply, usage) {
      if (!reply.startsWith(shown)) part()
      show(reply)
      sendDelta({}, 'stop')
      if (usage) send([], { usage })
      response.end('data: [DONE]\n\n')
    },
  }
}
