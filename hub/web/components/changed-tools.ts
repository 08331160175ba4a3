import type { ChangedTool } from '../../../schemas/hub-status.ts'
import { html } from '../html.ts'
import { count } from '../time.ts'
import { escapeUnseen } from '../unseen.ts'
import { AskAgain } from './ask-again.ts'

/** Most tools that are listed by name. */
const LISTED = 12

const PARTS: Record<ChangedTool['what'][number], string> = {
  title: 'title',
  description: 'description',
  inputSchema: 'arguments',
  annotations: 'hints',
}

/** Says what a tool of a class does, to follow "it". */
const EFFECTS: Record<NonNullable<ChangedTool['rise']>['to'], string> = {
  look: 'only looks',
  change: 'changes things',
  send: 'reaches people or places outside',
  destroy: 'may do harm that cannot be undone',
}

interface ChangedToolsProps {
  server: string
  tools: ChangedTool[]
  onAccept: (server: string) => Promise<void>
}

/** Tells what a server changed about its tools, and lets a person accept that. */
export function ChangedTools({ server, tools, onAccept }: ChangedToolsProps) {
  const more = tools.length - LISTED
  return html`<p>The server ${server} changed ${count(tools.length, 'tool')} since you accepted ${tools.length === 1 ? 'it' : 'them'}, or since it was added.</p>
    <ul class="changed-tools">
      ${tools.slice(0, LISTED).map(tool => html`<li key=${tool.name}><code>${escapeUnseen(tool.name)}</code> ${changeWords(tool)}</li>`)}
      ${more > 0 && html`<li key="">and ${count(more, 'other tool')}</li>`}
    </ul>
    <p>The tab Events has what they said before and say now.</p>
    <${AskAgain} label="Accept" name=${`Accept the changed tools of ${server}`} question=${`Take what ${server} says of its tools now?`} yes="Accept" busy="Accepting…" no="Not yet" onYes=${() => onAccept(server)} />`
}

function changeWords({ what, rise }: ChangedTool) {
  const parts = what.map(part => PARTS[part]).join(', ')
  if (!rise) return `has another ${parts}.`
  const now = what.length > 0 ? 'It' : 'For a while it'
  return html`<strong>asks you at every call.</strong> ${now} said that it ${EFFECTS[rise.to]}; before, that it ${EFFECTS[rise.from]}.`
}
