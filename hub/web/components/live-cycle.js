import { html } from '../html.js'
import { Flower } from './flower.js'
import { MarkdownView } from './markdown-view.js'
import { LiveTool } from './tool-group.js'

/**
 * Shows running cycles: their calls, and the text as it is written. Screen readers skip the growing text, and
 * read the finished message.
 * @param {{live: import('../types.d.ts').LiveCycle[], agents: import('../types.d.ts').Agent[], waiting: boolean}} props waiting: an answer is due
 */
export function LiveCycles({ live, agents, waiting }) {
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

/** @param {{cycle: import('../types.d.ts').LiveCycle, name: string}} props */
function LiveCycle({ cycle, name }) {
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

/** @param {{name: string}} props */
function Thinking({ name }) {
  return html`<p class="thinking"><${Flower} name=${name} status="active" /><span>${name} is thinking</span></p>`
}
