/** @import { ListedAgent } from '../panel-types.d.ts' */
import { useNow } from '../hooks.js'
import { html } from '../html.js'
import { count, relative } from '../time.js'
import { agentWords } from '../words.js'
import { Flower } from './flower.js'

/**
 * @param {{agents: ListedAgent[], chat: import('../types.d.ts').ChatState}} props `chat` has newer states than `agents`
 */
export function AgentCards({ agents, chat }) {
  const now = useNow(30_000)
  if (agents.length === 0)
    return html`<p class="panel-none">None. An agent is a Markdown file in the folder agents.</p>`
  return html`<ul class="cards">
    ${agents.map(agent => html`<${AgentCard} key=${agent.name} agent=${agent} status=${chat.agents[agent.name]?.status ?? agent.status} now=${now} />`)}
  </ul>`
}

/** @param {{agent: ListedAgent, status: string, now: number}} props */
function AgentCard({ agent, status, now }) {
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

/** @param {number | null} at start of the last cycle @param {number} now */
function awakeWords(at, now) {
  if (!at) return 'never awake yet'
  const when = relative(Math.min(at, now), now)
  return when === 'now' ? 'awake just now' : `last awake ${when}`
}

/** @param {ListedAgent} agent @param {number} now @returns {string[]} */
function facts({ pending, threads, lastCycleAt, tokensToday, windowTokens = 0 }, now) {
  return [
    awakeWords(lastCycleAt, now),
    pending > 0 && `${pending.toLocaleString('en')} waiting`,
    threads > 1 && count(threads, 'thread'),
    tokensToday > 0 && `${count(tokensToday, 'token')} today`,
    windowTokens > 0 && `window ${windowTokens.toLocaleString('en')}`,
  ].filter(fact => typeof fact === 'string')
}
