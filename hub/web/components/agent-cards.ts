import type { AgentView } from '../../../schemas/hub-lists.ts'
import type { ChatState } from '../conversation-store.ts'
import { useNow } from '../hooks.ts'
import { html } from '../html.ts'
import { count, relative } from '../time.ts'
import { agentWords } from '../words.ts'
import { Flower } from './flower.ts'

/** Shows the agents; `chat` has newer states than `agents`. */
export function AgentCards({ agents, chat }: { agents: AgentView[]; chat: ChatState }) {
  const now = useNow(30_000)
  if (agents.length === 0)
    return html`<p class="panel-none">None. An agent is a Markdown file in the folder agents.</p>`
  return html`<ul class="cards">
    ${agents.map(agent => html`<${AgentCard} key=${agent.name} agent=${agent} status=${chat.agents[agent.name]?.status ?? agent.status} now=${now} />`)}
  </ul>`
}

function AgentCard({ agent, status, now }: { agent: AgentView; status: string; now: number }) {
  return html`<li class="card">
    <div class="card-head">
      <${Flower} name=${agent.name} status=${status} />
      <span class="card-name">${agent.name}</span>
      <span class=${`card-state state-${status}`}>${agentWords(status)}</span>
    </div>
    ${agent.description && html`<p class="card-text">${agent.description}</p>`}
    <p class="card-facts">${facts(agent, now).map(fact => html`<span key=${fact}>${fact}</span>`)}</p>
  </li>`
}

/** Says when an agent was last awake, from the start of its last cycle. */
function awakeWords(at: number | null, now: number) {
  if (!at) return 'never awake yet'
  const when = relative(Math.min(at, now), now)
  return when === 'now' ? 'awake just now' : `last awake ${when}`
}

function facts(
  { pending, threads, lastCycleAt, tokensToday, windowTokens }: AgentView,
  now: number,
): string[] {
  return [
    awakeWords(lastCycleAt, now),
    pending > 0 && `${pending.toLocaleString('en')} waiting`,
    threads > 1 && count(threads, 'thread'),
    tokensToday > 0 && `${count(tokensToday, 'token')} today`,
    windowTokens > 0 && `${count(windowTokens, 'token')} in mind`,
  ].filter(fact => typeof fact === 'string')
}
