import type { HubStatus } from '../../../schemas/hub-status.ts'
import { useNow, useTries } from '../hooks.ts'
import { html } from '../html.ts'
import { count, dayAndTime, relative } from '../time.ts'
import { ActButton, AskAgain } from './ask-again.ts'
import { ChangedTools } from './changed-tools.ts'

/** Tells whether a problem of the hub needs a person. */
export function needsAttention({ held, model, serversDown, problems, servers }: HubStatus) {
  const isModelDown = model.health.some(one => one.state !== 'ok') || model.parked > 0
  const isChanged = servers.some(one => one.changedTools !== undefined)
  return held !== undefined || isModelDown || isChanged || serversDown.length > 0 || problems.length > 0
}

interface HubNoticesProps {
  status: HubStatus
  onRelease: () => Promise<void>
  onAccept: (server: string) => Promise<void>
  onRetryModel: () => Promise<void>
  /** Called after an announced try. */
  onTried: () => void
}

/** Lists the hub's own problems, each with its remedy. */
export function HubNotices({ status, onRelease, onAccept, onRetryModel, onTried }: HubNoticesProps) {
  const { held, model, servers, serversDown, problems } = status
  const down = model.health.filter(one => one.state !== 'ok')
  const now = useNow(down.length > 0 ? 1_000 : 60_000)
  useTries(
    down.map(one => one.retryAt),
    onTried,
  )
  return html`<ul class="problems">
    ${held && html`<li key="held"><${Held} until=${held.until} now=${now} onRelease=${onRelease} /></li>`}
    ${down.map(one => html`<li key=${one.name}><p>${modelWords(one, now)}</p><${ActButton} label="Try now" busy="Asking…" name=${`Try now: ask ${one.name} again`} onClick=${onRetryModel} /></li>`)}
    ${model.parked > 0 && html`<li key="parked">${parkedWords(model.parked)}</li>`}
    ${serversDown.map(one => html`<li key=${`server-${one.name}`}>The server ${one.name} went down ${relative(one.since, now)} and has not come back.</li>`)}
    ${servers.map(({ name, changedTools }) => changedTools && html`<li key=${`changed-${name}`}><${ChangedTools} server=${name} tools=${changedTools} onAccept=${onAccept} /></li>`)}
    ${problems.map(problem => html`<li key=${problem}>${problem}</li>`)}
  </ul>`
}

function Held({ until, now, onRelease }: { until: number; now: number; onRelease: () => Promise<void> }) {
  return html`<p>The hub ended three times right after its start, while an agent worked, so no agent runs until ${dayAndTime(until, now)}. Messages are kept. Read its log first.</p>
    <${AskAgain} label="Let the agents go" name="Let the agents go" question="Is what ended it mended?" yes="Let them go" busy="Letting them go…" no="Not yet" onYes=${onRelease} />`
}

function modelWords({ name, state, retryAt, error }: HubStatus['model']['health'][number], now: number) {
  const next =
    state === 'trying' || retryAt === undefined || retryAt <= now
      ? 'is asked again now'
      : `is asked again ${relative(retryAt, now)}`
  return `The model ${name} cannot be reached; it ${next}.${error ? ` ${error}` : ''}`
}

function parkedWords(parked: number) {
  return `${count(parked, 'piece')} of work ${parked === 1 ? 'waits' : 'wait'} until a model answers, and ${parked === 1 ? 'goes' : 'go'} on then.`
}
