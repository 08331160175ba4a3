/** @import { Call, Message } from '../types.d.ts' */
import { html, memo } from '../html.js'
import { clockTime, fullTime } from '../time.js'
import { callWords, toolWords } from '../words.js'
import { Icon } from './icons.js'

/** Calls that stay visible at the end of a longer run; the others fold up. */
const SHOWN = 4

/** @type {Record<string, string>} */
const ICONS = {
  planned: 'dots',
  started: 'dots',
  ok: 'check',
  error: 'cross',
  unknown: 'question',
  waiting: 'hand',
  asked: 'hand',
  denied: 'cross',
  expired: 'clock',
  skipped: 'skip',
}

/** Shows adjacent tool calls. */
export const ToolGroup = memo((/** @type {{messages: Message[]}} */ { messages }) => {
  const hidden = messages.length > SHOWN + 1 ? messages.slice(0, -SHOWN) : []
  const shown = messages.slice(hidden.length)
  return html`<div class="tools">
    ${
      hidden.length > 0 &&
      html`<details class="tool-fold">
        <summary><${Icon} name="chevron" /><span>${hidden.length} earlier steps${failures(hidden)}</span></summary>
        ${hidden.map(message => html`<${DurableTool} key=${message.seq} message=${message} />`)}
      </details>`
    }
    ${shown.map(message => html`<${DurableTool} key=${message.seq} message=${message} />`)}
  </div>`
})

/** Shows a call that a person was asked about, once it is over. @param {{message: Message}} props */
export function AskedTool({ message }) {
  return html`<div class="tools"><${DurableTool} message=${{ ...message, data: { ...message.data, status: 'asked' } }} /></div>`
}

/** @param {Message[]} messages */
function failures(messages) {
  const failed = messages.filter(message => message.data?.status === 'error').length
  return failed > 0 ? `, ${failed} failed` : ''
}

/** @param {Message} message whose arguments may be missing: then '' */
function argumentsOf({ data }) {
  return data?.arguments === undefined || data.arguments === '{}' ? '' : data.arguments
}

/** @param {{message: Message}} props */
function DurableTool({ message }) {
  const status = message.data?.status ?? 'ok'
  const tool = message.data?.tool ?? message.author
  return html`<details class=${`tool tool-${status}`}>
    <summary>
      <${ToolLine} tool=${tool} status=${status} summary=${message.text} />
      <${Icon} name="chevron" />
    </summary>
    <div class="tool-detail">
      ${argumentsOf(message) && html`<p class="tool-text"><code>${argumentsOf(message)}</code></p>`}
      ${message.text && html`<p class="tool-text">${message.text}</p>`}
      <p class="tool-facts"><code>${tool}</code> <time datetime=${new Date(message.at).toISOString()} title=${fullTime(message.at)}>${clockTime(message.at)}</time></p>
    </div>
  </details>`
}

/** Shows a call that is still running. @param {{call: Call}} props */
export function LiveTool({ call }) {
  return html`<div class=${`tool tool-live tool-${call.status}`}>
    <${ToolLine} tool=${call.tool} status=${call.status} summary=${call.summary ?? ''} />
  </div>`
}

/** @param {{tool: string, status: string, summary: string}} props */
function ToolLine({ tool, status, summary }) {
  return html`<span class="tool-icon"><${Icon} name=${ICONS[status] ?? 'info'} /></span>
    <span class="tool-name">${toolWords(tool)}</span>
    <span class="tool-status">${callWords(status)}</span>
    <span class="tool-summary">${summary}</span>`
}
