import type { Agent } from '../conversation-store.ts'
import { html } from '../html.ts'
import { Field } from './field.ts'

const SUGGESTIONS = [
  'How is this machine doing?',
  'What is using the CPU?',
  'Remind me in 2 minutes to check the disks',
]

type EmptyStateProps = {
  agents: Agent[]
  /** Whether it is the reader's main conversation with the agent. */
  isMain: boolean
  /** Guests start no history fresh. */
  mayReset: boolean
  onSuggest: (text: string) => void
  /** True for the owner of a hub in which nothing was said yet. */
  isFirst: boolean
}

/** Shows the start of an empty conversation. */
export function EmptyState({ agents, isMain, mayReset, onSuggest, isFirst }: EmptyStateProps) {
  const agent = agents[0]
  return html`<section class="empty" aria-label="Begin">
    <${Field} />
    <h2>${isMain && agent ? `This is ${agent.name}.` : 'A fresh patch of ground.'}</h2>
    <p>${isMain && agent?.description ? `${sentence(agent.description)} Ask it anything; it remembers across conversations, and it can wake by itself.` : `Ask anything. ${agent?.name ?? 'The agent'} remembers what was said in its other conversations.`}</p>
    ${mayReset && !isMain && html`<p><code>/new topic</code> sums that up first; <code>/reset</code> makes it start fresh, in all of them. It still finds everything by searching.</p>`}
    <div class="chips">
      ${isFirst && html`<a class="chip" href="./#p=settings/setup">Set up: a model, your programs, your clients</a>`}
      ${SUGGESTIONS.map(text => html`<button type="button" class="chip" key=${text} onClick=${() => onSuggest(text)}>${text}</button>`)}
    </div>
  </section>`
}

function sentence(text: string) {
  const trimmed = text.trim()
  return /[.!?]$/.test(trimmed) ? trimmed : `${trimmed}.`
}
