import { useState } from 'preact/hooks'
import type { AgentView } from '../../../../schemas/hub-lists.ts'
import type { ListedPerson, ListedToken, PEOPLE_ROLES, Role } from '../../../../schemas/tokens.ts'
import { useNow } from '../../hooks.ts'
import { html, typedIn } from '../../html.ts'
import type { SectionProps } from '../../places.ts'
import { relative } from '../../time.ts'
import { useAction, useTool } from '../../use-tool.ts'
import { AskAgain } from '../ask-again.ts'
import { CopyButton } from '../copy-button.ts'
import { Section } from '../section.ts'
import { Time } from '../time.ts'
import { SharedAgents } from './shared-agents.ts'

interface Listed {
  tokens: ListedToken[]
  people: ListedPerson[]
}

/** Shows who may sign in and which tokens open the hub; lets the owner add and end both. */
export function People({ mcp, news }: SectionProps) {
  const { value, error, read } = useTool<Listed>({ mcp, news }, 'hub_list_tokens')
  const now = useNow(30_000)
  const act = async (tool: string, args: Record<string, unknown>) => {
    await mcp.call(tool, args)
    await read()
  }
  const agents = useTool<{ agents: AgentView[] }>({ mcp, news }, 'hub_list_agents')
  const present = agents.value?.agents.filter(({ status }) => status !== 'retired') ?? null
  const shared = present?.filter(one => one.shared !== false) ?? []
  const people = value?.people ?? []
  const tokens = value?.tokens ?? []
  const isUnused = ({ name }: Invitation) => tokens.some(one => one.kind === 'link' && one.name === name)
  return html`<${Section} title="People" error=${error} isLoading=${value === null}>
      ${people.length === 0 && html`<p class="panel-none">Nobody besides you.</p>`}
      <ul class="cards">
        ${people.map(
          one => html`<li class="card" key=${one.name}>
            <div class="card-head"><span class="card-name">${one.title ?? one.name}</span><span class="card-state">${one.role}${one.title !== undefined && `, writes as ${one.name}`}</span></div>
            <div class="card-actions">
              <${NewLink} mcp=${mcp} name=${one.name} isUnused=${isUnused} onDone=${read} />
              <${AskAgain} label="Lock out" name=${`Lock out ${one.name}`} question=${`End all sign-ins of ${one.name}?`} yes="Lock out" busy="Ending…" onYes=${() => act('hub_remove_person', { name: one.name })} />
            </div>
          </li>`,
        )}
      </ul>
      <${AddPerson} mcp=${mcp} shared=${shared.map(({ name }) => name)} isUnused=${isUnused} onDone=${read} />
      <p class="panel-none">A member has agents look and change things, and says yes to what the member alone asked for, also where it cannot be undone. A guest's words change nothing without your yes. Nobody but you reads other people's conversations.</p>
    <//>
    <${SharedAgents} mcp=${mcp} agents=${present} error=${agents.error} onDone=${agents.read} />
    <${Section} title="Tokens and sign-ins" isLoading=${value === null}>
      <ul class="cards">
        ${tokens.map(
          one => html`<li class="card" key=${one.id}>
            <div class="card-head"><span class="card-name">${one.name}</span><span class="card-state">${one.role}</span></div>
            <p class="card-facts">
              <span>${one.isYours ? html`<b>this browser, which you use now</b>` : KINDS[one.kind]}</span>
              <span>${one.lastUsedAt === undefined ? 'never used' : html`used <${Time} at=${one.lastUsedAt}>${relative(Math.min(one.lastUsedAt, now), now)}<//>`}</span>
              ${one.expiresAt !== undefined && html`<span>ends <${Time} at=${one.expiresAt}>${relative(one.expiresAt, now)}<//></span>`}
              ${one.tools && html`<span>only <code>${one.tools.join(' ')}</code></span>`}
            </p>
            <${AskAgain} label="Revoke" name=${`Revoke ${one.name}, ${KINDS[one.kind]}`} question="End it at once?" yes="Revoke" busy="Revoking…" onYes=${() => act('hub_revoke_token', { which: one.id })} />
          </li>`,
        )}
      </ul>
      <${AddToken} mcp=${mcp} onDone=${read} />
    <//>`
}

const KINDS: Record<ListedToken['kind'], string> = {
  token: 'token',
  session: 'sign-in of a browser',
  link: 'link that was not used yet',
  grant: 'program that signed in',
}
const PERSON_ROLES: typeof PEOPLE_ROLES = ['member', 'guest']

type FormProps = Pick<SectionProps, 'mcp'> & { onDone: () => Promise<void> }
type Invitation = { name: string; title: string; link: string }
/** Tells whether a link still signs in. */
type IsUnused = { isUnused: (made: Invitation) => boolean }

function NewLink({ mcp, name, isUnused, onDone }: FormProps & IsUnused & { name: string }) {
  const { isBusy, error, start } = useAction()
  const [made, setMade] = useState<Invitation | null>(null)
  const make = () =>
    start(async () => {
      setMade(await mcp.call<Invitation>('hub_add_person', { name }))
      await onDone()
    })
  if (made && isUnused(made))
    return html`<${Secret} label=${linkWords(made)} text=${made.link} /><${OnlyHere} link=${made.link} />`
  return html`<button type="button" class="quiet" aria-disabled=${isBusy ? 'true' : 'false'} onClick=${make}>New link<span class="visually-hidden"> for ${name}</span></button>
    ${error && html`<span class="panel-error" role="alert">${error}</span>`}`
}

function linkWords({ title }: Invitation) {
  return `${title} signs in with this link, once, within a day:`
}

/** Says where a link does not work, and what helps. */
function OnlyHere({ link }: Pick<Invitation, 'link'>) {
  if (!LOOPBACK.includes(new URL(link).hostname)) return null
  return html`<p class="panel-error" role="note">This link works on the hub's own machine alone: on another device its address means that device. <a href="./#p=settings/phone">On your phone</a> says how other devices reach the hub; make a new link then.</p>`
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

function seesWords(name: string, shared: readonly string[]) {
  if (shared.length === 0)
    return `${name} can talk with no agent yet: switch one on under “Agents that people may talk with”.`
  return `${name} will see ${shared.join(', ')}, in conversations of ${name} alone, and neither yours nor the settings.`
}

function AddPerson({ mcp, shared, isUnused, onDone }: FormProps & IsUnused & { shared: readonly string[] }) {
  const { error, start } = useAction()
  const [name, setName] = useState('')
  const [role, setRole] = useState<string>(PERSON_ROLES[0])
  const [made, setMade] = useState<Invitation | null>(null)
  const onSubmit = (event: Event) => {
    event.preventDefault()
    void start(async () => {
      setMade(await mcp.call<Invitation>('hub_add_person', { name: name.trim(), role }))
      setName('')
      await onDone()
    })
  }
  return html`<form class="row-form" onSubmit=${onSubmit}>
    <label>Name <input required maxlength="60" autocomplete="off" autocapitalize="words" value=${name} onInput=${(event: Event) => setName(typedIn(event))} /></label>
    <label>Role <select value=${role} onChange=${(event: Event) => setRole(typedIn(event))}>${PERSON_ROLES.map(one => html`<option key=${one}>${one}</option>`)}</select></label>
    <button class="primary">Add a person</button>
    ${error && html`<p class="panel-error" role="alert">${error}</p>`}
    ${made && isUnused(made) && html`<${Secret} label=${linkWords(made)} text=${made.link} /><p class="wide">${seesWords(made.title, shared)}</p><${OnlyHere} link=${made.link} />`}
  </form>`
}

function AddToken({ mcp, onDone }: FormProps) {
  const { error, start } = useAction()
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('client')
  const [made, setMade] = useState<{ token: string } | null>(null)
  const onSubmit = (event: Event) => {
    event.preventDefault()
    void start(async () => {
      setMade(await mcp.call<{ token: string }>('hub_create_token', { name: name.trim(), role }))
      setName('')
      await onDone()
    })
  }
  return html`<form class="row-form" onSubmit=${onSubmit}>
    <label>Name <input required maxlength="60" autocomplete="off" autocapitalize="none" value=${name} onInput=${(event: Event) => setName(typedIn(event))} /></label>
    <label>For <select value=${role} onChange=${(event: Event) => setRole(typedIn(event) as Role)}>
      <option value="client">a program</option><option value="hook">a webhook of this name</option><option value="metrics">a scraper of /metrics</option>
    </select></label>
    <button class="primary">Make a token</button>
    ${error && html`<p class="panel-error" role="alert">${error}</p>`}
    ${made && html`<${Secret} label="The token, shown this one time:" text=${made.token} />`}
  </form>`
}

/** Shows a secret that is known this one time. */
function Secret({ label, text }: { label: string; text: string }) {
  return html`<div class="secret" role="status"><p>${label}</p><code class="wrap">${text}</code> <${CopyButton} text=${text} label="Copy" /></div>`
}
