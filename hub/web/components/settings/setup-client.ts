import { useState } from 'preact/hooks'
import type { Client } from '../../../../schemas/clients.ts'
import { html, typedIn } from '../../html.ts'
import type { SectionProps } from '../../places.ts'
import { useTool } from '../../use-tool.ts'
import { CopyButton } from '../copy-button.ts'

const CLIENTS: Record<Client, { name: string; where: string }> = {
  'claude-desktop': {
    name: 'Claude Desktop',
    where:
      'Paste it into claude_desktop_config.json: Settings, Developer, Edit config. Then start Claude Desktop again.',
  },
  'claude-code': { name: 'Claude Code', where: 'Run it in a shell, in the project where Claude Code works.' },
  cursor: { name: 'Cursor', where: 'Paste it into ~/.cursor/mcp.json.' },
  vscode: { name: 'VS Code', where: 'Paste it into .vscode/mcp.json of your project.' },
}

/** Shows what to paste into a client, for one on the hub's machine and for one elsewhere. */
export function SetupClient(props: Pick<SectionProps, 'mcp' | 'news'>) {
  const [client, setClient] = useState<Client>('claude-desktop')
  const { value, error } = useTool<{ text: string }>(props, 'hub_describe_client', { client })
  const { name, where } = CLIENTS[client]
  const address = new URL('./mcp', document.baseURI).href
  return html`<div class="row-form">
      <label>Client <select value=${client} onChange=${(event: Event) => setClient(typedIn(event) as Client)}>
        ${Object.entries(CLIENTS).map(([id, { name }]) => html`<option key=${id} value=${id}>${name}</option>`)}
      </select></label>
    </div>
    ${error && html`<p class="panel-error" role="alert">${error}</p>`}
    ${
      value &&
      html`<p class="card-text">For ${name} on the hub's own machine. ${where}</p>
      <pre class="fold-text" tabindex="0" role="group" aria-label=${`What to paste into ${name}`}>${value.text}</pre>
      <div class="card-actions"><${CopyButton} text=${value.text} label="Copy it" /></div>`
    }
    <p class="card-text">On another machine, or in any other client: the address <code class="wrap">${address}</code>, with a token for a program from <a href="./#p=settings/people">People and tokens</a>.</p>`
}
