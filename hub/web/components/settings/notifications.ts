import { useCallback, useEffect, useState } from 'preact/hooks'
import { html } from '../../html.ts'
import { reasonOf } from '../../mcp.ts'
import type { SectionProps } from '../../places.ts'
import {
  type PushState,
  pushObstacle,
  readFacts,
  readPush,
  switchPushOff,
  switchPushOn,
  testPush,
} from '../../push.ts'
import { useAction } from '../../use-tool.ts'
import { Section } from '../section.ts'
import { TellChannel } from './tell-channel.ts'

/** Chooses where the owner is told of what, and switches it on and off for this device. */
export function Notifications({ mcp, news }: SectionProps) {
  const [version, setVersion] = useState(0)
  return html`<${Section} title="Where to be told" isLoading=${false}><${TellChannel} mcp=${mcp} news=${news} onKept=${() => setVersion(version + 1)} /><//>
    <${ThisDevice} key=${version} />`
}

/** Switches the hub's notifications on this device on and off, and says what stands against them. */
function ThisDevice() {
  const [state, setState] = useState<PushState | null>(null)
  const [failure, setFailure] = useState<string | undefined>()
  const [isTested, setTested] = useState(false)
  const { isBusy, error, start } = useAction()
  const read = useCallback(
    () =>
      readPush().then(
        found => setState(found),
        reason => setFailure(reasonOf(reason)),
      ),
    [],
  )
  useEffect(() => void read(), [read])
  const obstacle = pushObstacle(readFacts())
  const isOn = state?.isOn === true && !obstacle
  const canSwitch = !obstacle && (isOn || !state?.problem)
  const change = () => {
    setTested(false)
    void start(isOn ? switchPushOff : switchPushOn).then(read)
  }
  const test = async () => setTested(await start(testPush))
  return html`<${Section} title="This device" error=${failure} isLoading=${state === null}>
    <div class="card">
      <div class="card-head"><span class="card-name">Notifications here</span><span class="card-state">${isOn ? 'on' : 'off'}</span></div>
      <p class="card-text">Approvals that wait for you, reminders and failures come as notifications, unless you look at their conversation.</p>
      ${(obstacle ?? state?.problem) && html`<p class="card-text">${obstacle ?? state?.problem}</p>`}
      <div class="card-actions">
        <button type="button" class=${isOn ? 'quiet' : 'primary'} disabled=${!canSwitch} aria-disabled=${isBusy ? 'true' : 'false'} onClick=${change}>
          ${isOn ? 'Stop notifying me here' : 'Notify me on this device'}
        </button>
        ${isOn && html`<button type="button" class="quiet" aria-disabled=${isBusy ? 'true' : 'false'} onClick=${test}>Send a test</button>`}
      </div>
      <p class="card-text" role="status">${isTested && 'Sent: it appears in a moment. If it does not, look at the notification settings of this device.'}</p>
      ${error && html`<p class="panel-error" role="alert">${error}</p>`}
    </div>
  <//>`
}
