import { useState } from 'preact/hooks'
import type { FoundProgram, KnownProgram } from '../../../../schemas/programs.ts'
import { html, typedIn } from '../../html.ts'
import type { Mcp } from '../../mcp.ts'
import type { SectionProps } from '../../places.ts'
import { useAction, useTool } from '../../use-tool.ts'
import { ProgramForm } from './program-form.ts'

type ConnectProgramProps = Pick<SectionProps, 'mcp' | 'news'> & {
  /** Called once a program is connected. */
  onKept: () => Promise<void>
}

/** Finds the programs of the hub's machine, or takes the address of another one, and connects them. */
export function ConnectProgram({ mcp, news, onKept }: ConnectProgramProps) {
  const { value, error, read } = useTool<{ programs: KnownProgram[] }>({ mcp, news }, 'hub_list_programs')
  const [found, setFound] = useState<FoundProgram[] | null>(null)
  const [chosen, setChosen] = useState('')
  const looking = useAction()
  const look = () =>
    looking.start(async () => {
      const answer = await mcp.call<{ found: FoundProgram[] }>('hub_find_programs')
      setFound(answer.found)
    })
  const kept = async () => {
    await Promise.all([read(), onKept()])
  }
  // A channel is chosen where notifications are.
  const programs = (value?.programs ?? []).filter(({ server }) => server !== 'notifications')
  const program = programs.find(one => one.program === chosen)
  return html`<div class="card-actions"><button type="button" class="primary" aria-disabled=${looking.isBusy ? 'true' : 'false'} onClick=${look}>${looking.isBusy ? 'Looking…' : 'Look on this machine'}</button></div>
    <div role="status">${found?.length === 0 && html`<p class="panel-none">No program that the hub knows answers at its usual port of the hub's machine. Start one, or type in where it is.</p>`}</div>
    ${
      found &&
      html`<ul class="cards">${found.map(one => html`<${FoundCard} key=${`${one.program} ${one.address}`} found=${one} program=${programs.find(known => known.program === one.program)} mcp=${mcp} onKept=${kept} />`)}</ul>`
    }
    <div class="row-form">
      <label>A program, also on another machine <select value=${chosen} onChange=${(event: Event) => setChosen(typedIn(event))}>
        <option value="">Choose</option>
        ${programs.map(({ program: name, title, connected }) => html`<option key=${name} value=${name}>${title}${connected.length > 0 && ' (connected)'}</option>`)}
      </select></label>
    </div>
    ${program && html`<${ProgramForm} key=${chosen} program=${program} mcp=${mcp} onKept=${kept} />`}
    ${(looking.error ?? error) && html`<p class="panel-error" role="alert">${looking.error ?? error}</p>`}`
}

interface FoundCardProps {
  found: FoundProgram
  /** Undefined for a channel of notifications. */
  program: KnownProgram | undefined
  mcp: Mcp
  onKept: () => Promise<void>
}

function FoundCard({ found, program, mcp, onKept }: FoundCardProps) {
  const { title, version, address, isConnected } = found
  const [isOpen, setOpen] = useState(false)
  const host = URL.parse(address)?.host ?? address
  // A program without an address is found on this machine alone.
  const isKept =
    program?.settings.length === 0 ? program.connected.length > 0 : program?.connected.includes(host)
  const isDone = isConnected || isKept
  return html`<li class="card">
    <div class="card-head"><span class="card-name">${title} ${version}</span><code class="card-state wrap">${address}</code></div>
    ${isDone && html`<p class="card-text found-good">Connected.</p>`}
    ${
      program
        ? html`<div class="card-actions"><button type="button" class="quiet" aria-expanded=${isOpen ? 'true' : 'false'} onClick=${() => setOpen(!isOpen)}>${isOpen ? 'Close' : isDone ? 'Set up anew' : 'Set up'}<span class="visually-hidden"> ${title} at ${address}</span></button></div>
          ${isOpen && html`<${ProgramForm} program=${program} address=${address} mcp=${mcp} onKept=${onKept} />`}`
        : html`<p class="card-text">It can tell you what waits for you: choose it under <a href="./#p=settings/notifications">where to be told</a>, with this address and a topic.</p>`
    }
  </li>`
}
