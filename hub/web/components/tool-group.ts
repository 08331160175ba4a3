import type { Call, Message } from '../conversation.ts'
import { html, memo } from '../html.ts'
import { callWords, toolWords } from '../words.ts'
import { Icon } from './icons.ts'
import { Time } from './time.ts'

/** Calls that stay visible at the end of a longer run; the others fold up. */
const SHOWN = 4

const ICONS: Record<string, string> = {
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
export const ToolGroup = memo(({ messages }: { messages: Message[] }) => {
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

/** Shows a call that a person was asked about, once it is over. */
export function AskedTool({ message }: { message: Message }) {
  return html`<div class="tools"><${DurableTool} message=${{ ...message, data: { ...message.data, status: 'asked' } }} /></div>`
}

function failures(messages: Message[]) {
  const failed = messages.filter(message => message.data?.status === 'error').length
  return failed > 0 ? `, ${failed} failed` : ''
}

/** Returns a call's arguments; '' where there are none. */
function argumentsOf({ data }: Message) {
  return data?.arguments === undefined || data.arguments === '{}' ? '' : data.arguments
}

function DurableTool({ message }: { message: Message }) {
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
      <p class="tool-facts"><code>${tool}</code> <${Time} at=${message.at} /></p>
    </div>
  </details>`
}

/** Shows a call that is still running. */
export function LiveTool({ call }: { call: Call }) {
  return html`<div class=${`tool tool-live tool-${call.status}`}>
    <${ToolLine} tool=${call.tool} status=${call.status} summary=${call.summary ?? ''} />
  </div>`
}

function ToolLine({ tool, status, summary }: { tool: string; status: string; summary: string }) {
  return html`<span class="tool-icon"><${Icon} name=${ICONS[status] ?? 'info'} /></span>
    <span class="tool-name">${toolWords(tool)}</span>
    <span class="tool-status">${callWords(status)}</span>
    <span class="tool-summary">${summary}</span>`
}
