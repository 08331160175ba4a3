import { useEffect, useState } from 'preact/hooks'
import type { FoundMessage } from '../conversation-changes.ts'
import type { ChatState } from '../conversation-store.ts'
import { html } from '../html.ts'
import { reasonOf } from '../mcp.ts'
import type { Session } from '../session.ts'
import { dayAndTime } from '../time.ts'
import { conversationTitle } from '../words.ts'

/** Milliseconds without a key after which the hub is asked. */
const SETTLE = 250

interface FoundMessagesProps {
  query: string
  chat: ChatState
  changes: Session['conversations']
  onFound: (conversation: string, seq: number) => void
}

/** Lists the messages that hold the words of a query; each opens its conversation at that place. */
export function FoundMessages({ query, chat, changes, onFound }: FoundMessagesProps) {
  const { found, problem } = useSearch(query, changes)
  const messages = found?.filter(one => !chat.leaving.includes(one.conversation))
  return html`<section class="found" aria-label="Found messages">
    <h2>Messages</h2>
    <p role="status" class="found-none">${problem || wordsFor(messages)}</p>
    <ul>
      ${messages?.map(
        ({ conversation, seq, author, at, snippet }) => html`<li key=${`${conversation} ${seq}`}>
          <button type="button" class="found-message" onClick=${() => onFound(conversation, seq)}>
            <span class="found-where"><bdi>${conversationTitle(chat.conversations[conversation] ?? { id: conversation })}</bdi>, ${dayAndTime(at, Date.now())}</span>
            <span class="found-text" dir="auto">${author}: ${snippet}</span>
          </button>
        </li>`,
      )}
    </ul>
  </section>`
}

function wordsFor(messages: FoundMessage[] | undefined) {
  if (!messages) return 'Searching…'
  return messages.length === 0 ? 'No message has these words.' : ''
}

/** Returns what the hub found for the query, undefined until it answered. */
function useSearch(query: string, changes: Session['conversations']) {
  const [answer, setAnswer] = useState<{ query: string; found?: FoundMessage[]; problem?: string }>({ query })
  useEffect(() => {
    let isOver = false
    const take = (next: { found?: FoundMessage[]; problem?: string }) => {
      if (!isOver) setAnswer({ query, ...next })
    }
    const ask = () =>
      changes.search(query).then(
        found => take({ found }),
        error => take({ problem: reasonOf(error) }),
      )
    const timer = setTimeout(ask, SETTLE)
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [query])
  return answer.query === query ? answer : { query, found: undefined, problem: undefined }
}
