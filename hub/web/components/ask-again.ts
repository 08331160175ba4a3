import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { html } from '../html.ts'
import { useAction } from '../use-tool.ts'

interface AskAgainProps {
  label: string
  /** The button's name for people who do not see its place. */
  name: string
  question: string
  yes: string
  busy: string
  no?: string
  onYes: () => Promise<void>
}

/** A button that asks for confirmation in place. The hub's refusal is shown beside it. */
export function AskAgain({ label, name, question, yes, busy, no = 'Keep', onYes }: AskAgainProps) {
  const [isAsking, setAsking] = useState(false)
  const { isBusy, error, start } = useAction()
  const keep = useRef<HTMLElement>(null)
  useLayoutEffect(() => {
    if (isAsking) keep.current?.focus()
  }, [isAsking])
  const run = async () => {
    await start(onYes)
    setAsking(false)
  }

  if (!isAsking) {
    return html`<div class="card-actions" key="idle">
      <button type="button" class="quiet" aria-label=${name} onClick=${() => setAsking(true)}>${label}</button>
      ${error && html`<span class="panel-error" role="alert">${error}</span>`}
    </div>`
  }
  return html`<div class="card-actions card-ask" key="ask" role="group" aria-label=${question}>
    <span class="card-question">${question}</span>
    <button type="button" class="danger" aria-disabled=${isBusy ? 'true' : 'false'} onClick=${isBusy ? undefined : run}>
      ${isBusy ? busy : yes}
    </button>
    <button type="button" class="quiet" ref=${keep} onClick=${() => setAsking(false)}>${no}</button>
  </div>`
}

interface ActButtonProps {
  label: string
  busy: string
  name: string
  onClick: () => Promise<void>
}

/** A button that acts at once. */
export function ActButton({ label, busy, name, onClick }: ActButtonProps) {
  const { isBusy, error, start } = useAction()
  return html`<div class="card-actions">
    <button type="button" class="quiet" aria-label=${isBusy ? undefined : name} aria-disabled=${isBusy ? 'true' : 'false'} onClick=${() => start(onClick)}>${isBusy ? busy : label}</button>
    ${error && html`<span class="panel-error" role="alert">${error}</span>`}
  </div>`
}
