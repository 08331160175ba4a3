import { useEffect, useState } from 'preact/hooks'
import type { HubStatus } from '../../../../schemas/hub-status.ts'
import { storedSession } from '../../address.ts'
import { html, typedIn } from '../../html.ts'
import { useAction } from '../../use-tool.ts'
import { ActButton, AskAgain } from '../ask-again.ts'

interface Begun {
  state: string
  url: string
  redirectUrl: string
}

/** Milliseconds between two looks at a login. */
const LOOK = 1_000

interface ServerLoginProps {
  server: HubStatus['servers'][number]
  onDone: () => Promise<void>
}

/** Lets the owner log the hub in at a server behind an address, and forget the login. */
export function ServerLogin({ server: { name }, onDone }: ServerLoginProps) {
  const [begun, setBegun] = useState<Begun | null>(null)
  const [failed, setFailed] = useState<string | null>(null)
  useEffect(() => {
    if (!begun) return
    const timer = setInterval(async () => {
      const { status, error = 'The login failed.' } = await ask<{ status: string; error?: string }>(
        'GET',
        `logins/${begun.state}`,
      ).catch((failure: Error) => ({ status: 'failed', error: failure.message }))
      if (status === 'waiting') return
      setBegun(null)
      setFailed(status === 'failed' ? error : null)
      await onDone()
    }, LOOK)
    return () => clearInterval(timer)
  }, [begun])
  const begin = async () => {
    setFailed(null)
    setBegun(await ask<Begun>('POST', 'logins', { server: name }))
  }
  const forget = async () => {
    await ask('DELETE', `servers/${encodeURIComponent(name)}`)
    await onDone()
  }
  return html`<div class="card-actions">
      <${ActButton} label="Log in" busy="Asking…" name=${`Log in at ${name}`} onClick=${begin} />
      <${AskAgain} label="Log out" name=${`Log out at ${name}`} question="Forget the login?" yes="Log out" busy="Forgetting…" onYes=${forget} />
    </div>
    ${failed && html`<p class="panel-error" role="alert">${failed}</p>`}
    ${begun && html`<${Waiting} begun=${begun} />`}`
}

function Waiting({ begun: { url, redirectUrl, state } }: { begun: Begun }) {
  const [pasted, setPasted] = useState('')
  const { error, start } = useAction()
  const onSubmit = (event: Event) => {
    event.preventDefault()
    const address = URL.parse(pasted.trim())
    void start(async () => {
      if (address?.searchParams.get('state') !== state)
        throw new Error('This is not the address at the end of this login.')
      await fetch(new URL(`./oauth/callback${address.search}`, document.baseURI))
    })
  }
  return html`<div class="secret" role="status">
    <p><a href=${url} target="_blank" rel="noopener noreferrer">Open the login page</a>, and log in there. The browser comes back to ${redirectUrl}.</p>
    <form class="row-form" onSubmit=${onSubmit}>
      <label>Where it cannot reach that, the address that it shows then <input type="url" autocomplete="off" value=${pasted} onInput=${(event: Event) => setPasted(typedIn(event))} /></label>
      <button>Finish the login</button>
    </form>
    ${error && html`<p class="panel-error" role="alert">${error}</p>`}
  </div>`
}

/** Asks the door of logins. Throws what it refuses. */
async function ask<Result>(method: string, path: string, body?: object): Promise<Result> {
  const response = await fetch(new URL(`./oauth/${path}`, document.baseURI), {
    method,
    headers: { Authorization: `Bearer ${storedSession.get()}`, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const answer = await response.json()
  if (response.ok) return answer
  throw new Error(answer.error?.message ?? `The hub answers ${response.status}.`)
}
