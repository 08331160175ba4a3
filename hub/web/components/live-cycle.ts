import type { LiveCycle as Live } from '../conversation.ts'
import type { Agent } from '../conversation-store.ts'
import { html } from '../html.ts'
import { Flower } from './flower.ts'
import { MarkdownView } from './markdown-view.ts'
import { LiveTool } from './tool-group.ts'

interface LiveCyclesProps {
  live: Live[]
  agents: Agent[]
  /** An answer is due. */
  waiting: boolean
}

/**
 * Shows running cycles: their calls, and the text as it is written. Screen readers skip the growing text, and
 * read the finished message.
 */
export function LiveCycles({ live, agents, waiting }: LiveCyclesProps) {
  const busy = agents.filter(agent => agent.status === 'active').map(agent => agent.name)
  const name = busy[0] ?? agents[0]?.name ?? ''
  const isQuiet = live.every(cycle => cycle.text === '' && cycle.calls.length === 0)
  return html`<div class="live">
    <p class="visually-hidden" role="status">${busy.length > 0 && (waiting || !isQuiet) ? `${name} is working` : ''}</p>
    <div aria-live="off">
      ${live.map(cycle => html`<${LiveCycle} key=${cycle.cycle} cycle=${cycle} name=${name} />`)}
      ${isQuiet && waiting && busy.length > 0 && html`<${Thinking} name=${name} />`}
    </div>
  </div>`
}

function LiveCycle({ cycle, name }: { cycle: Live; name: string }) {
  return html`<div>
    ${cycle.calls.length > 0 && html`<div class="tools">${cycle.calls.map(call => html`<${LiveTool} key=${call.id} call=${call} />`)}</div>`}
    ${
      cycle.text !== '' &&
      html`<div class="message message-agent named">
        <p class="message-author"><${Flower} name=${name} status="active" />${name}</p>
        <${MarkdownView} text=${cycle.text} streaming=${true} />
      </div>`
    }
    ${cycle.text === '' && cycle.calls.length === 0 && html`<${Thinking} name=${name} />`}
  </div>`
}

function Thinking({ name }: { name: string }) {
  return html`<p class="thinking"><${Flower} name=${name} status="active" /><span>${name} is thinking</span></p>`
}
