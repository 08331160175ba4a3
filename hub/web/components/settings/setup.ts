import type { HubStatus } from '../../../../schemas/hub-status.ts'
import { html } from '../../html.ts'
import type { SectionProps } from '../../places.ts'
import { useTool } from '../../use-tool.ts'
import { Section } from '../section.ts'
import { ConnectProgram } from './connect-program.ts'
import { SetupClient } from './setup-client.ts'
import { SetupModel } from './setup-model.ts'
import { TellChannel } from './tell-channel.ts'

/** Leads from nothing to a useful answer; each step can be skipped. */
export function Setup(props: SectionProps) {
  const { value, error, read } = useTool<HubStatus>(props, 'hub_status')
  return html`<p class="card-text">Each step stands alone: leave out what you do not need.</p>
    <${Section} title="1. A model that thinks" error=${error} isLoading=${value === null}>
      ${value && html`<p class="card-text">${describeModel(value)}</p>`}
      <${SetupModel} mcp=${props.mcp} onKept=${read} />
    <//>
    <${Section} title="2. Programs of the house" isLoading=${false}>
      <p class="card-text">${value ? describeServers(value) : ''} What agents look after: downloads, media, metrics and game servers. Any other MCP server is added under <a href="./#p=settings/servers">Servers</a>.</p>
      <${ConnectProgram} mcp=${props.mcp} news=${props.news} onKept=${read} />
    <//>
    <${Section} title="3. Where to be told" isLoading=${false}><${TellChannel} mcp=${props.mcp} news=${props.news} /><//>
    <${Section} title="4. Claude and other clients" isLoading=${false}><${SetupClient} ...${props} /><//>`
}

function describeModel({ model }: HubStatus) {
  return model.kind === 'commands'
    ? 'None yet: built-in commands answer, which understand a few sentences.'
    : `${model.name} answers now. Another one that you use here takes its place.`
}

function describeServers({ servers }: HubStatus) {
  const ready = servers.filter(({ state }) => state === 'ready').map(({ name }) => name)
  return ready.length === 0 ? 'None is connected yet.' : `Connected: ${ready.join(', ')}.`
}
