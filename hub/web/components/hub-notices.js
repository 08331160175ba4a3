/** @import { HubStatus, Provider } from '../panel-types.d.ts' */
import { useAt, useNow } from '../hooks.js'
import { html } from '../html.js'
import { count, dayAndTime, relative } from '../time.js'
import { AskAgain } from './ask-again.js'

/** Milliseconds after a model's next try until its outcome is read. */
const OUTCOME = 2_000

/** Tells whether a problem of the hub needs a person. @param {HubStatus | null} status */
export function needsAttention(status) {
  if (!status) return false
  const { held, model, serversDown = [], problems } = status
  const isModelDown = (model?.health ?? []).some(one => one.state !== 'ok') || (model?.parked ?? 0) > 0
  return held !== undefined || isModelDown || serversDown.length > 0 || problems.length > 0
}

/**
 * Lists the hub's own problems, each with its remedy.
 * @param {{status: HubStatus, onRelease: () => Promise<void>, onTried: () => void}} props onTried: called after an announced try
 */
export function HubNotices({ status, onRelease, onTried }) {
  const { held, model, serversDown = [], problems } = status
  const down = (model?.health ?? []).filter(one => one.state !== 'ok')
  const now = useNow(down.length > 0 ? 1_000 : 60_000)
  const tries = down.map(one => (one.retryAt ?? 0) + OUTCOME).filter(at => at > Date.now())
  useAt(tries.length > 0 ? Math.min(...tries) : null, onTried)
  return html`<ul class="problems">
    ${held && html`<li key="held"><${Held} until=${held.until} now=${now} onRelease=${onRelease} /></li>`}
    ${down.map(one => html`<li key=${one.name}>${modelWords(one, now)}</li>`)}
    ${model?.parked ? html`<li key="parked">${parkedWords(model.parked)}</li>` : null}
    ${serversDown.map(one => html`<li key=${`server-${one.name}`}>The server ${one.name} went down ${relative(one.since, now)} and has not come back.</li>`)}
    ${problems.map(problem => html`<li key=${problem}>${problem}</li>`)}
  </ul>`
}

/** @param {{until: number, now: number, onRelease: () => Promise<void>}} props */
function Held({ until, now, onRelease }) {
  return html`<p>The hub ended three times right after its start, while an agent worked, so no agent runs until ${dayAndTime(until, now)}. Messages are kept. Read its log first.</p>
    <${AskAgain} label="Let the agents go" name="Let the agents go" question="Is what ended it mended?" yes="Let them go" busy="Letting them go…" no="Not yet" onYes=${onRelease} />`
}

/** @param {Provider} provider @param {number} now */
function modelWords({ name, state, retryAt, error }, now) {
  const next =
    state === 'trying' || retryAt === undefined || retryAt <= now
      ? 'is asked again now'
      : `is asked again ${relative(retryAt, now)}`
  return `The model ${name} cannot be reached; it ${next}.${error ? ` ${error}` : ''}`
}

/** @param {number} parked */
function parkedWords(parked) {
  return `${count(parked, 'cycle')} ${parked === 1 ? 'waits' : 'wait'} until a model answers, and ${parked === 1 ? 'goes' : 'go'} on then.`
}
