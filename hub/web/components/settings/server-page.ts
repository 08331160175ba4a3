import { useEffect } from 'preact/hooks'
import type { ServerDetails, ServerLogLine } from '../../../../schemas/hub-servers.ts'
import type { HubStatus } from '../../../../schemas/hub-status.ts'
import { html } from '../../html.ts'
import type { Mcp } from '../../mcp.ts'
import type { SectionProps } from '../../places.ts'
import { clockTime } from '../../time.ts'
import { useTool } from '../../use-tool.ts'
import { serverTone } from '../../words.ts'
import { ActButton, AskAgain } from '../ask-again.ts'
import { ChangedTools } from '../changed-tools.ts'
import { Icon } from '../icons.ts'
import { Section } from '../section.ts'
import { ServerFacts } from '../server-list.ts'
import { Shown } from '../shown.ts'
import { ServerLogin } from './server-login.ts'
import { ServerTools } from './server-tools.ts'

type Server = HubStatus['servers'][number]

interface ServerPageProps {
  server: Server
  now: number
  parts: SectionProps
  /** Reads the servers again. */
  onRead: () => Promise<void>
  onBack: () => void
  /** Called once the server is removed. */
  onRemoved: () => void
}

/** Shows one server: how it is, what can be done with it, its tools, its log and its entry. */
export function ServerPage({ server, now, parts, onRead, onBack, onRemoved }: ServerPageProps) {
  const { name, transport, changedTools, state } = server
  const { mcp } = parts
  const details = useTool<ServerDetails>(parts, 'hub_read_server', { server: name })
  const log = useTool<{ lines: ServerLogLine[] }>(parts, 'hub_read_server_log', { server: name })
  useEffect(() => {
    void details.read()
    void log.read()
  }, [state, server.tools, details.read, log.read])
  const accept = async () => {
    await mcp.call('hub_accept_tools', { server: name })
    await onRead()
  }
  const { file, entry, tools = [] } = details.value ?? {}
  return html`<div class="place-head"><button type="button" class="quiet" onClick=${onBack}><${Icon} name="back" />All servers</button></div>
    <section class=${`section server-${serverTone(state)}`} aria-label=${`Server ${name}`}>
      <${ServerFacts} server=${server} now=${now} />
      <${Actions} server=${server} mcp=${mcp} onRead=${onRead} onRemoved=${onRemoved} />
      ${transport !== undefined && transport !== 'stdio' && html`<${ServerLogin} server=${server} onDone=${onRead} />`}
      ${changedTools && html`<${ChangedTools} server=${name} tools=${changedTools} onAccept=${accept} />`}
    </section>
    <${Section} title="Tools" error=${details.error} isLoading=${details.value === null}>
      <${ServerTools} server=${name} tools=${tools} mcp=${mcp} onDone=${details.read} />
    <//>
    <${Section} title="Log" error=${log.error} isLoading=${log.value === null}>
      <${LogLines} lines=${log.value?.lines ?? []} />
      <${ActButton} label="Read again" busy="Reading…" name=${`Read again: the log of ${name}`} onClick=${log.read} />
    <//>
    ${
      file &&
      html`<${Section} title="Entry" isLoading=${false}>
        <p class="card-facts"><span class="wrap">${file}</span></p>
        ${entry && html`<${Shown} label="Entry, without its secrets" text=${JSON.stringify(entry, null, 2)} />`}
      <//>`
    }`
}

interface ActionsProps {
  server: Server
  mcp: Mcp
  onRead: () => Promise<void>
  onRemoved: () => void
}

function Actions({ server: { name, state, origin }, mcp, onRead, onRemoved }: ActionsProps) {
  const change =
    (tool: string, args: Record<string, unknown> = {}) =>
    async () => {
      await mcp.call(tool, { server: name, ...args })
      await onRead()
    }
  const isOff = state === 'disabled'
  const isThere = origin !== 'built-in'
  const remove = async () => {
    await mcp.call('hub_remove_server', { server: name })
    onRemoved()
    await onRead()
  }
  return html`<div class="card-actions">
    ${
      isOff
        ? html`<${ActButton} key="on" label="Switch on" busy="Starting…" name=${`Switch on ${name}`} onClick=${change('hub_change_server', { enabled: true })} />`
        : html`<${ActButton} key="off" label="Switch off" busy="Ending…" name=${`Switch off ${name}`} onClick=${change('hub_change_server', { enabled: false })} />
          <${ActButton} key="again" label="Restart" busy="Starting…" name=${`Restart ${name}`} onClick=${change('hub_restart_server')} />`
    }
    ${isThere && html`<${AskAgain} label="Remove" name=${`Remove ${name}`} question=${`Take ${name} and its tools away?`} yes="Remove" busy="Removing…" onYes=${remove} />`}
  </div>`
}

function LogLines({ lines }: { lines: ServerLogLine[] }) {
  if (lines.length === 0) return html`<p class="panel-none">It wrote nothing to standard error.</p>`
  const text = lines
    .map(({ at, by, text }) => `${clockTime(at)} ${by === 'hub' ? 'hub: ' : ''}${text}`)
    .join('\n')
  return html`<${Shown} label="Lines of the log" text=${text} />`
}
