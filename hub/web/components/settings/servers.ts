import { useEffect, useRef, useState } from 'preact/hooks'
import type { HubStatus } from '../../../../schemas/hub-status.ts'
import { useNow, useTries } from '../../hooks.ts'
import { html } from '../../html.ts'
import type { Mcp } from '../../mcp.ts'
import type { SectionProps } from '../../places.ts'
import { useAction, useTool } from '../../use-tool.ts'
import { serverTone } from '../../words.ts'
import { Section } from '../section.ts'
import { ServerFacts } from '../server-list.ts'
import { AddServer } from './add-server.ts'
import { ConnectProgram } from './connect-program.ts'
import { ServerPage } from './server-page.ts'

/** Milliseconds between two looks at servers that start. */
const LOOK = 1_000

/** Lists the servers; each opens with its tools, its log and its entry. Below, a server is added. */
export function Servers(props: SectionProps) {
  const { value, error, read } = useTool<HubStatus>(props, 'hub_status')
  const [open, setOpen] = useState<string | null>(null)
  const [removed, setRemoved] = useState<string | null>(null)
  const servers = value?.servers ?? []
  const isStarting = servers.some(({ state }) => state === 'starting')
  useEffect(() => {
    if (!isStarting) return
    const timer = setInterval(() => void read(), LOOK)
    return () => clearInterval(timer)
  }, [isStarting, read])
  const isAwaited = useTries(
    servers.map(({ nextTryAt }) => nextTryAt),
    () => void read(),
  )
  const now = useNow(isAwaited ? 1_000 : 0)
  const shown = servers.find(({ name }) => name === open)
  if (shown) {
    const onRemoved = () => {
      setOpen(null)
      setRemoved(shown.name)
    }
    return html`<${ServerPage} key=${shown.name} server=${shown} now=${now} parts=${props} onRead=${read} onBack=${() => setOpen(null)} onRemoved=${onRemoved} />`
  }
  const onRestored = async () => {
    setRemoved(null)
    await read()
  }
  return html`<div role="status">${removed !== null && html`<${Undo} key=${removed} server=${removed} mcp=${props.mcp} onRestored=${onRestored} />`}</div>
    <${Section} title="Servers and their tools" error=${error} isLoading=${value === null}>
      ${servers.length === 0 && html`<p class="panel-none">None. A server gives the hub its tools.</p>`}
      <ul class="cards">
        ${servers.map(
          server => html`<li class=${`card server-${serverTone(server.state)}`} key=${`${server.name} ${server.origin} ${server.state}`}>
            <${ServerFacts} server=${server} now=${now} />
            <div class="card-actions"><button type="button" class="quiet" onClick=${() => setOpen(server.name)}>Open<span class="visually-hidden"> ${server.name}</span></button></div>
          </li>`,
        )}
      </ul>
    <//>
    <${Section} title="Connect a program" isLoading=${false}>
      <p class="card-text">The programs that the hub's own servers look after. Their key stays on the hub.</p>
      <${ConnectProgram} mcp=${props.mcp} news=${props.news} onKept=${read} />
    <//>
    <${AddServer} mcp=${props.mcp} onRead=${read} onOpen=${setOpen} />`
}

interface UndoProps {
  server: string
  mcp: Mcp
  onRestored: () => Promise<void>
}

/** Offers to bring back the server that was removed last. */
function Undo({ server, mcp, onRestored }: UndoProps) {
  const { isBusy, error, start } = useAction()
  const button = useRef<HTMLButtonElement>(null)
  // The focus was on what is gone now.
  useEffect(() => button.current?.focus(), [])
  const undo = () =>
    start(async () => {
      await mcp.call('hub_restore_server', { server })
      await onRestored()
    })
  return html`<div class="banner">
    <span>${server} and its tools are removed.</span>
    <button type="button" ref=${button} class="quiet" aria-disabled=${isBusy ? 'true' : 'false'} onClick=${undo}>${isBusy ? 'Bringing it back…' : 'Undo'}<span class="visually-hidden"> the removal of ${server}</span></button>
    ${error && html`<p class="panel-error" role="alert">${error}</p>`}
  </div>`
}
