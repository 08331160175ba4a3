import { useState } from 'preact/hooks'
import { useReveal } from '../../hooks.ts'
import { html, typedIn } from '../../html.ts'
import type { Mcp } from '../../mcp.ts'
import { useAction } from '../../use-tool.ts'
import { AskAgain } from '../ask-again.ts'
import { Section } from '../section.ts'
import { PRESETS, type Preset, toPasted } from './server-presets.ts'
import { SettingFields, toInitial } from './setting-fields.ts'

interface Added {
  name: string
  state: string
  tools: number
  error?: string
  notes?: string[]
}

interface AddServerProps {
  mcp: Mcp
  onRead: () => Promise<void>
  /** Shows a server. */
  onOpen: (name: string) => void
}

/** Adds a server: a known program with its settings, or what another client's documentation says. */
export function AddServer({ mcp, onRead, onOpen }: AddServerProps) {
  const [chosen, setChosen] = useState('')
  const [added, setAdded] = useState<Added[]>([])
  const { isBusy, error, start } = useAction()
  const shown = useReveal(added.length > 0 && added)
  const preset = PRESETS.find(({ name }) => name === chosen)
  const add = (paste: string, name: string) =>
    start(async () => {
      setAdded([])
      const { servers } = await mcp.call<{ servers: Added[] }>('hub_add_server', {
        paste,
        ...(name === '' ? {} : { name }),
      })
      // The list above grows first: it would push the answer out of sight.
      await onRead()
      setAdded(servers)
    })
  const undo = async (name: string) => {
    await mcp.call('hub_remove_server', { server: name })
    setAdded(added.filter(one => one.name !== name))
    await onRead()
  }
  return html`<${Section} title="Add a server" isLoading=${false}>
    <form class="row-form" onSubmit=${(event: Event) => event.preventDefault()}>
      <label>What <select value=${chosen} onChange=${(event: Event) => setChosen(typedIn(event))}>
        <option value="">anything: JSON, a command or an address</option>
        ${PRESETS.map(({ name, title }) => html`<option key=${name} value=${name}>${title}</option>`)}
      </select></label>
    </form>
    ${preset ? html`<${PresetForm} key=${preset.name} preset=${preset} isBusy=${isBusy} onAdd=${add} />` : html`<${PasteForm} key="" isBusy=${isBusy} onAdd=${add} />`}
    ${error && html`<p class="panel-error" role="alert">${error}</p>`}
    <div role="status" ref=${shown}>${added.map(
      one => html`<div class="secret" key=${one.name}>
        <p>${addedWords(one)}</p>
        ${one.notes?.map(note => html`<p key=${note}>${note}</p>`)}
        <div class="card-actions">
          <button type="button" class="quiet" onClick=${() => onOpen(one.name)}>Open<span class="visually-hidden"> ${one.name}</span></button>
          ${one.error && html`<${AskAgain} label="Take it away again" name=${`Take ${one.name} away again`} question=${`Remove ${one.name}?`} yes="Remove" busy="Removing…" onYes=${() => undo(one.name)} />`}
        </div>
      </div>`,
    )}</div>
  <//>`
}

function addedWords({ name, state, tools, error }: Added) {
  if (error) return `${name} is kept, but it does not run: ${error}`
  if (state === 'starting') return `${name} is added and still starting; a first start may download it.`
  return `${name} is added and has ${tools === 1 ? '1 tool' : `${tools} tools`}.`
}

interface FormProps {
  isBusy: boolean
  onAdd: (paste: string, name: string) => Promise<boolean>
}

function PasteForm({ isBusy, onAdd }: FormProps) {
  const [text, setText] = useState('')
  const [name, setName] = useState('')
  const [token, setToken] = useState('')
  const isAddress = /^\s*https?:\/\/\S+\s*$/.test(text)
  const onSubmit = async (event: Event) => {
    event.preventDefault()
    const headers = { Authorization: `Bearer ${token.trim()}` }
    const url = text.trim()
    const server = name || (URL.parse(url)?.hostname.replace(/[^a-z0-9]+/g, '-') ?? '')
    const pasted = isAddress && token.trim() !== '' ? JSON.stringify({ [server]: { url, headers } }) : text
    if (!(await onAdd(pasted, name))) return
    setText('')
    setName('')
    setToken('')
  }
  return html`<form class="row-form" onSubmit=${onSubmit}>
    <label class="wide">Another client's JSON, a command line, or an address
      <textarea required rows="5" spellcheck=${false} autocapitalize="none" placeholder="npx -y @modelcontextprotocol/server-filesystem /srv" value=${text} onInput=${(event: Event) => setText(typedIn(event))}></textarea></label>
    <label>Name (its own by default) <input maxlength="64" autocomplete="off" autocapitalize="none" value=${name} onInput=${(event: Event) => setName(typedIn(event))} /></label>
    ${isAddress && html`<label>Token, where it wants one <input type="password" autocomplete="off" value=${token} onInput=${(event: Event) => setToken(typedIn(event))} /></label>`}
    <button class="primary" aria-disabled=${isBusy ? 'true' : 'false'}>${isBusy ? 'Trying it…' : 'Add the server'}</button>
  </form>`
}

function PresetForm({ preset, isBusy, onAdd }: FormProps & { preset: Preset }) {
  const [typed, setTyped] = useState(() => toInitial(preset.settings))
  const onSubmit = (event: Event) => {
    event.preventDefault()
    void onAdd(toPasted(preset, typed), '')
  }
  return html`<form class="row-form" onSubmit=${onSubmit}>
    <p class="wide">${preset.about} <a href=${preset.docs} target="_blank" rel="noopener noreferrer">Its documentation</a></p>
    <${SettingFields} settings=${preset.settings} typed=${typed} onType=${setTyped} />
    <button class="primary" aria-disabled=${isBusy ? 'true' : 'false'}>${isBusy ? 'Trying it…' : `Add ${preset.title}`}</button>
  </form>`
}
