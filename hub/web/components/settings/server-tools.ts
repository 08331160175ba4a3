import { useState } from 'preact/hooks'
import type { ServerTool, ToolMode } from '../../../../schemas/hub-servers.ts'
import { html, typedIn } from '../../html.ts'
import type { Mcp } from '../../mcp.ts'
import { escapeUnseen } from '../../unseen.ts'
import { useAction } from '../../use-tool.ts'
import { TryTool } from './try-tool.ts'

interface ServerToolsProps {
  server: string
  tools: ServerTool[]
  mcp: Mcp
  onDone: () => Promise<void>
}

/** Tools from which on a list can be narrowed by words. */
const MANY = 8

/** Lists a server's tools, with who may use each, and a form that calls it. */
export function ServerTools({ server, tools, mcp, onDone }: ServerToolsProps) {
  const [words, setWords] = useState('')
  const wanted = words.toLowerCase().split(/\s+/)
  const has = (text: string) => wanted.every(word => text.toLowerCase().includes(word))
  const shown = tools
    .filter(({ name, description = '' }) => has(`${name} ${description}`))
    .sort((one, other) => Number(has(other.name)) - Number(has(one.name)))
  if (tools.length === 0) return html`<p class="panel-none">It lists none now.</p>`
  return html`${
    tools.length > MANY &&
    html`<form class="row-form" onSubmit=${(event: Event) => event.preventDefault()}><label>Tools with these words <input type="search" value=${words} onInput=${(event: Event) => setWords(typedIn(event))} /></label></form>`
  }
    <ul class="cards">${shown.map(tool => html`<${ToolCard} key=${tool.original} server=${server} tool=${tool} mcp=${mcp} onDone=${onDone} />`)}</ul>
    ${shown.length === 0 && html`<p class="panel-none">None has these words.</p>`}`
}

const MODES: Record<ToolMode, string> = {
  on: 'On, by the policy',
  run: 'Runs without asking for people',
  routine: 'Runs without asking, for schedules too',
  ask: 'Agents ask each time',
  deny: 'Not for agents',
  off: 'Off for everyone',
}

const MEANING: Partial<Record<ToolMode, string>> = {
  run: 'Where a person asks an agent for something, the agent calls it without your yes.',
  routine:
    'Agents call it without your yes, also in work that a schedule, an event of the house or another agent began. Texts from outside still need your yes.',
}
const HARM = ' It may do harm that cannot be undone.'

interface ToolCardProps extends Omit<ServerToolsProps, 'tools'> {
  tool: ServerTool
}

function ToolCard({ server, tool, mcp, onDone }: ToolCardProps) {
  const { name, title, description, mode, rule, toolClass } = tool
  const { isBusy, error, start } = useAction()
  const [isTrying, setTrying] = useState(false)
  const choose = (event: Event) => {
    const mode = typedIn(event)
    void start(async () => {
      await mcp.call('hub_change_server', { server, tool: name, mode })
      await onDone()
    })
  }
  return html`<li class="card">
    <div class="card-head"><code class="card-name wrap">${escapeUnseen(name)}</code>${toolClass && html`<span class="card-state">${toolClass}</span>`}</div>
    ${title && title !== name && html`<p class="card-text">${escapeUnseen(title)}</p>`}
    ${description && html`<details class="tool-about"><summary>${escapeUnseen(firstLine(description))}</summary><p>${escapeUnseen(description)}</p></details>`}
    <div class="card-actions">
      <select aria-label=${`Who may use ${name}`} value=${mode} disabled=${isBusy} onChange=${choose}>
        ${Object.entries(MODES).map(([value, words]) => html`<option key=${value} value=${value}>${words}</option>`)}
      </select>
      ${mode !== 'off' && html`<button type="button" class="quiet" aria-label=${`Try it: ${name}`} aria-expanded=${isTrying ? 'true' : 'false'} onClick=${() => setTrying(!isTrying)}>Try it</button>`}
    </div>
    ${MEANING[mode] && html`<p class="card-text">${MEANING[mode]}${toolClass === 'destroy' && HARM}</p>`}
    ${rule && html`<p class="card-facts"><span>by the rule ${rule}</span></p>`}
    ${error && html`<p class="panel-error" role="alert">${error}</p>`}
    ${isTrying && mode !== 'off' && html`<${TryTool} tool=${tool} mcp=${mcp} />`}
  </li>`
}

/** Most characters of a description that are shown unopened. */
const SHOWN = 110

function firstLine(text: string) {
  const line = text.split('\n')[0] ?? ''
  return line.length > SHOWN ? `${line.slice(0, SHOWN)}…` : line
}
