import { useState } from 'preact/hooks'
import type { WholeCall } from '../../../schemas/hub-lists.ts'
import type { Call, Message } from '../conversation.ts'
import { html, memo } from '../html.ts'
import { reasonOf } from '../mcp.ts'
import type { Session } from '../session.ts'
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

/** Reads a call with its whole result; null for people who may not see records. */
type ReadCall = Session['conversations']['readCall'] | null

/** Shows adjacent tool calls. */
export const ToolGroup = memo(({ messages, readCall }: { messages: Message[]; readCall: ReadCall }) => {
  const hidden = messages.length > SHOWN + 1 ? messages.slice(0, -SHOWN) : []
  const shown = messages.slice(hidden.length)
  return html`<div class="tools">
    ${
      hidden.length > 0 &&
      html`<details class="tool-fold">
        <summary><${Icon} name="chevron" /><span>${hidden.length} earlier steps${failures(hidden)}</span></summary>
        ${hidden.map(message => html`<${DurableTool} key=${message.seq} message=${message} readCall=${readCall} />`)}
      </details>`
    }
    ${shown.map(message => html`<${DurableTool} key=${message.seq} message=${message} readCall=${readCall} />`)}
  </div>`
})

/** Shows a call that a person was asked about, once it is over. */
export function AskedTool({ message, readCall }: { message: Message; readCall: ReadCall }) {
  return html`<div class="tools"><${DurableTool} message=${{ ...message, data: { ...message.data, status: 'asked' } }} readCall=${readCall} /></div>`
}

function failures(messages: Message[]) {
  const failed = messages.filter(message => message.data?.status === 'error').length
  return failed > 0 ? `, ${failed} failed` : ''
}

/** Returns a call's arguments; '' where there are none. */
function argumentsOf({ data }: Message) {
  return data?.arguments === undefined || data.arguments === '{}' ? '' : data.arguments
}

function DurableTool({ message, readCall }: { message: Message; readCall: ReadCall }) {
  const { whole, problem, read } = useWhole(message.data?.call, readCall)
  const given = whole?.arguments ?? argumentsOf(message)
  const result = whole?.result ?? message.text
  const status = message.data?.status ?? 'ok'
  const tool = message.data?.tool ?? message.author
  return html`<details class=${`tool tool-${status}`} onToggle=${read}>
    <summary>
      <${ToolLine} tool=${tool} status=${status} summary=${message.text} />
      <${Icon} name="chevron" />
    </summary>
    <div class="tool-detail">
      ${given && given !== '{}' && html`<${Lines} label="Arguments" text=${given} />`}
      ${result && html`<${Lines} label="Result" text=${result} />`}
      ${problem && html`<p class="tool-facts">The whole result could not be read. ${problem}</p>`}
      <p class="tool-facts"><code>${tool}</code> <${Time} at=${message.at} /></p>
    </div>
  </details>`
}

/** Returns a call's whole result once its card was opened. */
function useWhole(call: string | undefined, readCall: ReadCall) {
  const [whole, setWhole] = useState<WholeCall | null>(null)
  const [problem, setProblem] = useState('')
  const read = async (event: Event) => {
    if (!(event.target as HTMLDetailsElement).open || !call || !readCall || whole) return
    try {
      setWhole(await readCall(call))
      setProblem('')
    } catch (error) {
      setProblem(reasonOf(error))
    }
  }
  return { whole, problem, read }
}

/** Shows a text with its lines; JSON is laid out. */
function Lines({ label, text }: { label: string; text: string }) {
  return html`<pre class="tool-text" tabindex="0" role="group" aria-label=${label}>${layOut(text)}</pre>`
}

function layOut(text: string) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
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
