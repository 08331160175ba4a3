import { useEffect, useRef } from 'preact/hooks'
import type { ListedDeadLetter } from '../../../schemas/hub-lists.ts'
import { useNow } from '../hooks.ts'
import { html } from '../html.ts'
import { count, relative } from '../time.ts'
import { callWords, toolWords } from '../words.ts'
import { ActButton, AskAgain } from './ask-again.ts'
import { Time } from './time.ts'

interface DeadLettersProps {
  letters: ListedDeadLetter[]
  /** The one to show. */
  marked: { id: string } | null
  onRetry: (id: string) => Promise<void>
  onDiscard: (id: string) => Promise<void>
}

/** Lists work that failed for good: its items, the reason, the calls before, and what a person can do. */
export function DeadLetters({ letters, marked, onRetry, onDiscard }: DeadLettersProps) {
  const now = useNow(30_000)
  return html`<ul class="cards">
    ${letters.map(
      letter =>
        html`<${LetterCard} key=${letter.id} letter=${letter} now=${now} mark=${letter.id === marked?.id ? marked : null} onRetry=${onRetry} onDiscard=${onDiscard} />`,
    )}
  </ul>`
}

interface LetterCardProps {
  letter: ListedDeadLetter
  now: number
  mark: object | null
  onRetry: (id: string) => Promise<void>
  onDiscard: (id: string) => Promise<void>
}

function LetterCard({ letter, now, mark, onRetry, onDiscard }: LetterCardProps) {
  const { id, agent, at, reason, items, calls } = letter
  const ref = useRef<HTMLElement>(null)
  useEffect(() => {
    if (!mark) return
    ref.current?.scrollIntoView({ block: 'nearest' })
    ref.current?.focus()
  }, [mark])
  const about = items.map(item => item.text).join(' / ') || 'work without a message'
  return html`<li class="card letter" ref=${ref} tabindex="-1" aria-label=${`Failed: ${about}`}>
    <p class="card-text card-lead clamp">${about}</p>
    <p class="card-text letter-reason">${reason}</p>
    <p class="card-facts">
      <span>${agent}</span>
      <span><${Time} at=${at}>${relative(Math.min(at, now), now)}<//></span>
      ${letter.conversation && html`<span>in ${letter.conversation}</span>`}
      ${calls.length > 0 && html`<span>${count(calls.length, 'tool call')} before</span>`}
    </p>
    ${calls.length > 0 && html`<${CallsMade} calls=${calls} />`}
    <div class="letter-actions">
      <${ActButton} label="Retry" busy="Retrying…" name=${`Retry: ${about}`} onClick=${() => onRetry(id)} />
      <${AskAgain} label="Discard" name=${`Discard: ${about}`} question="Give it up for good?" yes="Discard it" busy="Discarding…" onYes=${() => onDiscard(id)} />
    </div>
  </li>`
}

function CallsMade({ calls }: { calls: ListedDeadLetter['calls'] }) {
  return html`<details class="fold">
    <summary>What had been done</summary>
    <ul class="fold-list">
      ${calls.map(
        (call, i) =>
          html`<li key=${i}><b>${toolWords(call.tool)}</b> <span class=${`call-state call-${call.status}`}>${callWords(call.status)}</span> <code class="wrap">${call.arguments}</code></li>`,
      )}
    </ul>
  </details>`
}
