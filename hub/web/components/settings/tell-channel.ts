import { useState } from 'preact/hooks'
import type { ConfigInForce } from '../../../../schemas/hub-lists.ts'
import type { NotifiedOf, NotifySettings } from '../../../../schemas/notify.ts'
import type { KnownProgram } from '../../../../schemas/programs.ts'
import { html, typedIn } from '../../html.ts'
import { type Mcp, textOf } from '../../mcp.ts'
import type { SectionProps } from '../../places.ts'
import { pushObstacle, readFacts, switchPushOn, testPush } from '../../push.ts'
import { useAction, useTool } from '../../use-tool.ts'
import type { SetProgram } from './program-form.ts'
import { SettingFields, type Typed, toInitial } from './setting-fields.ts'

/** The channel that is the owner's browsers. */
const PAGE = 'page'
/** Milliseconds for a server that starts anew, and for a message. */
const LONGEST = 60_000

const ABOUT: Record<NotifiedOf, string> = {
  approvals: 'approvals that wait',
  reminders: 'reminders and reports',
  failures: 'failures',
}
const KINDS = Object.keys(ABOUT) as NotifiedOf[]

type TellChannelProps = Pick<SectionProps, 'mcp' | 'news'> & {
  /** Called once it is written. */
  onKept?: () => void
}

/** Chooses where the owner is told of what, writes it, and sends a test message. */
export function TellChannel({ mcp, news, onKept }: TellChannelProps) {
  const config = useTool<ConfigInForce>({ mcp, news }, 'hub_read_config')
  const known = useTool<{ programs: KnownProgram[] }>({ mcp, news }, 'hub_list_programs')
  const error = config.error ?? known.error
  if (error) return html`<p class="panel-error" role="alert">${error}</p>`
  if (!config.value || !known.value) return html`<p class="panel-none">Reading…</p>`
  const now = toSettings(config.value)
  const channels = known.value.programs.filter(({ server }) => server === 'notifications')
  const kept = async () => {
    await Promise.all([config.read(), known.read()])
    onKept?.()
  }
  return html`<p class="card-text">${describe(now, channels)}</p><${TellForm} now=${now} channels=${channels} page=${publicUrlOf(config.value)} mcp=${mcp} onKept=${kept} />`
}

function toSettings({ values }: ConfigInForce): NotifySettings | undefined {
  const value = values.find(({ key }) => key === 'notify')?.value
  return value === undefined ? undefined : JSON.parse(value)
}

function publicUrlOf({ values }: ConfigInForce): string | undefined {
  const value = values.find(({ key }) => key === 'publicUrl')?.value
  return value === undefined ? undefined : JSON.parse(value)
}

/** Channels that never have buttons, or have them without a public address. */
const NO_ADDRESS = [PAGE, 'discord', 'email']

/** Returns why the messages of a channel have no buttons, where an address of the hub would give them some. */
function buttonsObstacle(channel: string, page: string | undefined) {
  if (NO_ADDRESS.includes(channel)) return null
  if (page === undefined)
    return 'No buttons yet: they need an address of the hub that your phone reaches. Start the hub with it in SUPERBLOOM_PUBLIC_URL.'
  const { hostname } = new URL(page)
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
    ? `No buttons yet: your phone cannot reach ${page}. Start the hub with an address that it reaches in SUPERBLOOM_PUBLIC_URL.`
    : null
}

function describe(now: NotifySettings | undefined, channels: KnownProgram[]) {
  if (!now) return 'You are told nowhere yet: what waits for you stands only on this page.'
  const kinds = KINDS.filter(kind => now.about.includes(kind)).map(kind => ABOUT[kind])
  return `You are told through ${titleOf(now.channel, channels)}: ${kinds.join(', ')}.`
}

function titleOf(channel: string, channels: KnownProgram[]) {
  if (channel === PAGE) return 'the browsers in which you switched it on'
  return channels.find(({ program }) => program === channel)?.title ?? `the channel ${channel}`
}

interface TellFormProps {
  now: NotifySettings | undefined
  channels: KnownProgram[]
  /** The hub's public address. */
  page: string | undefined
  mcp: Mcp
  onKept: () => Promise<void>
}

function TellForm({ now, channels, page, mcp, onKept }: TellFormProps) {
  const [chosen, setChosen] = useState(now && now.channel !== PAGE ? KEEP : PAGE)
  const [typed, setTyped] = useState<Typed>({})
  const [about, setAbout] = useState<NotifiedOf[]>(now?.about ?? KINDS)
  const [isPrivate, setPrivate] = useState(now?.private ?? false)
  const [result, setResult] = useState<string | null>(null)
  const { isBusy, error, start } = useAction()
  const program = channels.find(one => one.program === chosen)
  const obstacle = chosen === PAGE ? pushObstacle(readFacts()) : null
  const noButtons = isPrivate
    ? buttonsObstacle(chosen === KEEP ? (now?.channel ?? PAGE) : chosen, page)
    : null
  const choose = (name: string) => {
    setChosen(name)
    setTyped(toInitial(channels.find(one => one.program === name)?.settings ?? []))
    setResult(null)
  }
  const onSubmit = (event: Event) => {
    event.preventDefault()
    if (obstacle) return
    const channel = chosen === KEEP ? (now?.channel ?? PAGE) : chosen
    setResult(null)
    void start(async () => {
      await keep(
        mcp,
        { channel, about, private: isPrivate },
        program && { program: program.program, settings: typed },
      )
      await onKept()
      setResult(await sendTest(mcp, channel))
    })
  }
  return html`<form class="row-form" onSubmit=${onSubmit}>
    <label>Where <select value=${chosen} onChange=${(event: Event) => choose(typedIn(event))}>
      ${now && now.channel !== PAGE && html`<option value=${KEEP}>${titleOf(now.channel, channels)}, as it is set</option>`}
      <option value=${PAGE}>this browser</option>
      ${channels.map(({ program: name, title, connected }) => html`<option key=${name} value=${name}>${title}${connected.length > 0 && ', another one'}</option>`)}
    </select></label>
    ${program && html`<p class="wide">${program.about}</p><${SettingFields} settings=${program.settings} typed=${typed} onType=${setTyped} />`}
    ${obstacle && html`<p class="wide">${obstacle}</p>`}
    <fieldset class="wide choices"><legend>Of what</legend>
      <span class="field-about">An approval whose conversation you have open is told up to a minute after you leave it.</span>
      ${KINDS.map(kind => html`<${Check} key=${kind} label=${ABOUT[kind]} isOn=${about.includes(kind)} onChange=${(isOn: boolean) => setAbout(KINDS.filter(one => (one === kind ? isOn : about.includes(one))))} />`)}
    </fieldset>
    <${Check} label="Only I see these messages" isOn=${isPrivate} onChange=${setPrivate}>
      Then an approval may have buttons that answer it. Whoever sees the message can press them, in your name: leave this off where others read along or hold the phone. Discord and e-mail have no buttons.
    <//>
    ${noButtons && html`<p class="wide">${noButtons} See <a href="./#p=settings/phone">On your phone</a>.</p>`}
    <button class="primary" disabled=${obstacle !== null || about.length === 0} aria-disabled=${isBusy ? 'true' : 'false'}>${isBusy ? 'Sending…' : 'Save and send a test'}</button>
    <p class="wide" role="status">${result}</p>
    ${error && html`<p class="panel-error" role="alert">${error}</p>`}
  </form>`
}

/** The choice that changes no channel. */
const KEEP = ''

interface CheckProps {
  label: string
  isOn: boolean
  onChange: (isOn: boolean) => void
  children?: string
}

function Check({ label, isOn, onChange, children }: CheckProps) {
  return html`<label class="wide try-check">${label}
    <input type="checkbox" checked=${isOn} onChange=${(event: Event) => onChange((event.target as HTMLInputElement).checked)} />
    ${children && html`<span class="field-about">${children}</span>`}</label>`
}

/** Writes the channel's settings, if there are any, and what it tells. */
async function keep(
  mcp: Mcp,
  settings: NotifySettings,
  program: { program: string; settings: Typed } | undefined,
): Promise<void> {
  // The browser asks its question only as the answer to a click.
  if (settings.channel === PAGE) await switchPushOn()
  const set = program && (await mcp.call<SetProgram>('hub_set_program', program, LONGEST))
  if (set?.error !== undefined)
    throw new Error(`It is written, but the server notifications does not run: ${set.error}`)
  await mcp.call('hub_set_notify', { ...settings })
}

/** Sends a test message; resolves with what became of it, in words. */
async function sendTest(mcp: Mcp, channel: string): Promise<string> {
  if (channel === PAGE) {
    await testPush()
    return 'It is set. A test message appears in a moment; if it does not, look at the notification settings of this device.'
  }
  // An equal message is not sent twice within minutes.
  const message = `Notifications of the hub reach you here. (${new Date().toLocaleTimeString()})`
  const result = await mcp.callTool('send_notification', { channel, title: 'Superbloom', message }, LONGEST)
  const { deliveries = [] } = (result.structuredContent ?? {}) as { deliveries?: { status: string }[] }
  const isThere = !result.isError && deliveries.every(({ status }) => status === 'sent')
  return `${isThere ? 'It is set.' : 'It is set, but the test message has not arrived.'} ${textOf(result)}`
}
