import { useEffect, useRef, useState } from 'preact/hooks'
import type { AgentEdit } from '../../../../schemas/agent-edit.ts'
import { html, typedIn } from '../../html.ts'
import { type Mcp, reasonOf } from '../../mcp.ts'
import { useAction } from '../../use-tool.ts'
import { AgentMeaningView } from './agent-meaning.ts'
import { TextDifference } from './text-difference.ts'

/** Milliseconds without a key until the text is checked. */
const SETTLE = 400

type Checked = Pick<AgentEdit, 'problems' | 'meaning'>

interface AgentEditorProps {
  name: string
  /** The file on the disk; null for an agent that does not exist yet. */
  disk: AgentEdit | null
  mcp: Mcp
  onRead: () => Promise<void>
}

/** Edits an agent's file: says what the text means or which lines are wrong, and never overwrites a newer file. */
export function AgentEditor({ name, disk, mcp, onRead }: AgentEditorProps) {
  const [base, setBase] = useState({ text: disk?.text ?? '', sha256: disk?.sha256 })
  const [text, setText] = useState(disk?.text ?? TEMPLATE)
  const { isBusy, error, start } = useAction()
  const area = useRef<HTMLTextAreaElement>(null)
  const checked = useCheck(mcp, name, text)
  const isChanged = text !== base.text
  const isStale = disk?.sha256 !== base.sha256
  const rebase = () => setBase({ text: disk?.text ?? '', sha256: disk?.sha256 })
  const take = () => {
    rebase()
    setText(disk?.text ?? '')
  }
  // A text that nobody touched follows the disk.
  useEffect(() => {
    if (isStale && !isChanged) take()
  }, [disk?.sha256])
  const save = async () => {
    await start(async () => {
      const { sha256 } = await mcp.call<AgentEdit>('hub_write_agent', {
        agent: name,
        text,
        sha256: base.sha256,
      })
      setBase({ text, sha256 })
    })
    await onRead()
  }
  const isWrong = checked !== null && 'problems' in checked && checked.problems.length > 0
  const mayNot = isBusy || isWrong || isStale || !isChanged
  return html`<div class="agent-editor">
    <label>${disk?.file ?? `A new file, ${name}.md`}
      <textarea ref=${area} class="code" rows="18" spellcheck="false" autocapitalize="none" autocomplete="off" value=${text} aria-invalid=${isWrong ? 'true' : 'false'} aria-describedby="agent-problems"
        onInput=${(event: Event) => setText(typedIn(event))}></textarea>
    </label>
    ${isStale && isChanged && html`<${Stale} disk=${disk} text=${text} onMine=${rebase} onTheirs=${take} />`}
    <div class="agent-means" aria-live="polite" id="agent-problems"><${Preview} checked=${checked} onLine=${(line: number) => goToLine(area.current, line)} /></div>
    <div class="card-actions">
      <button type="button" class="primary" aria-disabled=${mayNot ? 'true' : 'false'} onClick=${mayNot ? undefined : save}>${isBusy ? 'Saving…' : 'Save'}</button>
      ${isChanged && disk?.text !== undefined && html`<button type="button" class="quiet" onClick=${take}>Discard the changes</button>`}
      ${!isChanged && html`<span class="panel-none" role="status">${disk ? 'Saved, and in force.' : ''}</span>`}
      ${error && html`<p class="panel-error" role="alert">${error}</p>`}
    </div>
  </div>`
}

const TEMPLATE = `---
description: What it is for, in a line
tools: ["get_*", "list_*"]        # globs over the servers' tools; "!name" takes one away
# events: [disk_high]             # what wakes it by itself
# schedules: [{ cron: "0 8 * * *", reason: Morning report }]
# grants: []                      # tools that run without a yes where nobody asked for them
---

You are a calm teammate. Say here what it looks after, what it may decide alone, and what it has to ask about.
`

/** Has a text checked once nobody types; returns null before the first answer. */
function useCheck(mcp: Mcp, name: string, text: string): Checked | { error: string } | null {
  const [checked, setChecked] = useState<Checked | { error: string } | null>(null)
  useEffect(() => {
    let isGone = false
    const timer = setTimeout(async () => {
      const args = { agent: name, text: text || ' ' }
      const answer = await mcp
        .call<Checked>('hub_check_agent', args)
        .catch(error => ({ error: reasonOf(error) }))
      if (!isGone) setChecked(answer)
    }, SETTLE)
    return () => {
      isGone = true
      clearTimeout(timer)
    }
  }, [mcp, name, text])
  return checked
}

interface PreviewProps {
  checked: Checked | { error: string } | null
  onLine: (line: number) => void
}

function Preview({ checked, onLine }: PreviewProps) {
  if (checked === null) return html`<p class="panel-none">Reading…</p>`
  if ('error' in checked) return html`<p class="panel-error">${checked.error}</p>`
  const { problems, meaning } = checked
  if (problems.length === 0 && meaning) return html`<${AgentMeaningView} meaning=${meaning} />`
  return html`<p class="panel-error">It cannot be saved like this:</p>
    <ul class="problems">
      ${problems.map(
        ({ line, message }) => html`<li key=${`${line} ${message}`}>
          ${line !== undefined && html`<button type="button" class="quiet" onClick=${() => onLine(line)}>Line ${line}</button> `}${message}
        </li>`,
      )}
    </ul>`
}

interface StaleProps {
  disk: AgentEdit | null
  text: string
  onMine: () => void
  onTheirs: () => void
}

/** Shows how a file that changed meanwhile differs from the text, and asks which one counts. */
function Stale({ disk, text, onMine, onTheirs }: StaleProps) {
  return html`<div class="problems" role="alert">
    <p>${disk?.text === undefined ? 'The file was removed meanwhile.' : 'The file was changed meanwhile, by somebody else or in an editor. What yours would change in it:'}</p>
    ${disk?.text !== undefined && html`<${TextDifference} before=${disk.text} after=${text} />`}
    <div class="card-actions">
      <button type="button" class="quiet" onClick=${onTheirs}>Take the file as it is now</button>
      <button type="button" class="quiet" onClick=${onMine}>Go on with mine</button>
    </div>
  </div>`
}

function goToLine(area: HTMLTextAreaElement | null, line: number) {
  if (!area) return
  const lines = area.value.split('\n')
  const begin = lines.slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0)
  area.focus()
  area.setSelectionRange(begin, begin + (lines[line - 1] ?? '').length)
  area.scrollTop = ((line - 1) / lines.length) * area.scrollHeight - area.clientHeight / 2
}
