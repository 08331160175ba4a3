import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { html } from '../html.js'

/**
 * A button that asks for confirmation in place. The hub's refusal is shown beside it.
 * @param {object} props
 * @param {string} props.label
 * @param {string} props.name the button's name for people who do not see its place
 * @param {string} props.question
 * @param {string} props.yes
 * @param {string} props.busy
 * @param {string} [props.no]
 * @param {() => Promise<void>} props.onYes
 */
export function AskAgain({ label, name, question, yes, busy, no = 'Keep', onYes }) {
  const [step, setStep] = useState('idle')
  const [error, setError] = useState(/** @type {string | null} */ (null))
  const keep = useRef(/** @type {HTMLElement | null} */ (null))
  useLayoutEffect(() => {
    if (step === 'asking') keep.current?.focus()
  }, [step])

  async function run() {
    setStep('busy')
    setError(await tryIt(onYes))
    setStep('idle')
  }

  if (step === 'idle') {
    return html`<div class="card-actions" key="idle">
      <button type="button" class="quiet" aria-label=${name} onClick=${() => setStep('asking')}>${label}</button>
      ${error && html`<span class="panel-error" role="alert">${error}</span>`}
    </div>`
  }
  return html`<div class="card-actions card-ask" key="ask" role="group" aria-label=${question}>
    <span class="card-question">${question}</span>
    <button type="button" class="danger" aria-disabled=${step === 'busy' ? 'true' : 'false'} onClick=${step === 'busy' ? undefined : run}>
      ${step === 'busy' ? busy : yes}
    </button>
    <button type="button" class="quiet" ref=${keep} onClick=${() => setStep('idle')}>${no}</button>
  </div>`
}

/**
 * A button that acts at once.
 * @param {{label: string, busy: string, name: string, onClick: () => Promise<void>}} props
 */
export function ActButton({ label, busy, name, onClick }) {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState(/** @type {string | null} */ (null))
  async function run() {
    if (isBusy) return
    setBusy(true)
    setError(await tryIt(onClick))
    setBusy(false)
  }
  return html`<div class="card-actions">
    <button type="button" class="quiet" aria-label=${name} aria-disabled=${isBusy ? 'true' : 'false'} onClick=${run}>${isBusy ? busy : label}</button>
    ${error && html`<span class="panel-error" role="alert">${error}</span>`}
  </div>`
}

/** @param {() => Promise<void>} run @returns {Promise<string | null>} the reason of a failure */
async function tryIt(run) {
  try {
    await run()
    return null
  } catch (failure) {
    return failure instanceof Error ? failure.message : String(failure)
  }
}
