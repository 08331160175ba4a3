import { useState } from 'preact/hooks'
import type { DeviceLink, Reach } from '../../../../schemas/reach.ts'
import { html } from '../../html.ts'
import type { Mcp } from '../../mcp.ts'
import type { SectionProps } from '../../places.ts'
import { dayAndTime } from '../../time.ts'
import { useAction, useTool } from '../../use-tool.ts'
import { CopyButton } from '../copy-button.ts'
import { Section } from '../section.ts'

interface Found {
  reach: Reach
  document: string
}

/** Leads to the page on a phone: the addresses, a code that signs in, and what wants https. */
export function Phone({ mcp, news }: SectionProps) {
  const { value, error, read } = useTool<Found>({ mcp, news }, 'hub_describe_reach')
  const reach = value?.reach
  const isReached = reach?.kind === 'reached' && reach.refused.length === 0
  return html`<${Section} title="1. An address that your phone reaches" error=${error} isLoading=${value === null}>
      ${reach && html`<${Addresses} reach=${reach} mcp=${mcp} onDone=${read} />`}
    <//>
    <${Section} title="2. Sign in there" isLoading=${value === null}>
      ${isReached ? html`<${SignIn} mcp=${mcp} />` : html`<p class="panel-none">First the hub needs an address that your phone reaches.</p>`}
    <//>
    <${Section} title="3. Install it, and be told" isLoading=${value === null}>
      ${value && html`<${Https} isSecure=${reach?.kind === 'reached' && reach.urls.some(url => url.startsWith('https:'))} document=${value.document} />`}
    <//>`
}

function Addresses({ reach, mcp, onDone }: { reach: Reach; mcp: Mcp; onDone: () => Promise<void> }) {
  const { isBusy, error, start } = useAction()
  if (reach.kind === 'alone')
    return html`<p class="card-text">The hub listens on its own machine alone. Start it with <code>SUPERBLOOM_HOST=0.0.0.0</code> to let the devices of your network in, or put a program with https before it and start it with that address in <code>SUPERBLOOM_PUBLIC_URL</code>. Then come back here.</p>`
  if (reach.kind === 'unknown') return html`<p class="card-text">${reach.why}</p>`
  const letIn = () =>
    start(async () => {
      await mcp.call('hub_allow_reach')
      await onDone()
    })
  const { urls, refused } = reach
  return html`<p class="card-text">Your phone reaches the hub here, in the same network as it:</p>
    <ul class="fold-list">${urls.map(url => html`<li key=${url} class="card-actions"><code class="wrap">${url}</code><${CopyButton} text=${url} label=${`Copy ${url}`} /></li>`)}</ul>
    ${
      refused.length > 0 &&
      html`<p class="card-text">The hub refuses requests there until <code>superbloom.yaml</code> names ${refused.length === 1 ? 'this address' : 'these addresses'} under <code>hosts</code>.</p>
      <div class="card-actions"><button type="button" class="primary" aria-disabled=${isBusy ? 'true' : 'false'} onClick=${letIn}>${isBusy ? 'Writing…' : 'Let your devices in'}</button></div>`
    }
    ${error && html`<p class="panel-error" role="alert">${error}</p>`}`
}

function SignIn({ mcp }: { mcp: Mcp }) {
  const { isBusy, error, start } = useAction()
  const [made, setMade] = useState<DeviceLink | null>(null)
  const make = () => start(async () => setMade(await mcp.call<DeviceLink>('hub_link_device')))
  return html`<p class="card-text">The phone's camera opens the page from a code, and is signed in as you. Others get links of their own under <a href="./#p=settings/people">People and tokens</a>.</p>
    <div class="card-actions"><button type="button" class="primary" aria-disabled=${isBusy ? 'true' : 'false'} onClick=${make}>${made ? 'Show another code' : 'Show a code'}</button></div>
    ${error && html`<p class="panel-error" role="alert">${error}</p>`}
    <div role="status">${made && html`<${Code} made=${made} />`}</div>`
}

function Code({ made: { link, code, expiresAt } }: { made: DeviceLink }) {
  const size = code.length
  const modules = code.flatMap((row, y) =>
    [...row].map((bit, x) => (bit === '1' ? `M${x} ${y}h1v1h-1z` : '')),
  )
  return html`<div class="secret">
    <svg class="device-code" role="img" aria-label="The code for your phone's camera" viewBox=${`0 0 ${size} ${size}`} shape-rendering="crispEdges">
      <rect width=${size} height=${size} fill="#fff" /><path d=${modules.join('')} fill="#000" />
    </svg>
    <p>It works once${expiresAt !== undefined && `, until ${dayAndTime(expiresAt, Date.now())}`}. Whoever opens it is you:</p>
    <code class="wrap">${link}</code> <${CopyButton} text=${link} label="Copy the link" />
  </div>`
}

function Https({ isSecure, document }: { isSecure: boolean; document: string }) {
  return html`<ul class="points">
      <li>Over http: chat, House, Settings, and messages of ntfy, with buttons where <code>SUPERBLOOM_PUBLIC_URL</code> is an address that the phone reaches. Nothing is encrypted: everybody in your network could read along.</li>
      <li>Only over https: the page as an app, and notifications of the browser itself. ${isSecure ? 'The hub has an https address.' : html`The hub has no https address yet: a certificate under <code>tls</code>, <code>tailscale serve</code>, or Caddy before it, and its address in <code>SUPERBLOOM_PUBLIC_URL</code>.`}</li>
      <li>To install it: Android, Chrome: ⋮, “Install app”. iPhone, Safari: the share button, “Add to Home Screen”. Then switch on <a href="./#p=settings/notifications">Notifications</a> there.</li>
    </ul>
    <p class="card-text">Step by step, on the hub's machine: <code class="wrap">${document}</code></p>`
}
