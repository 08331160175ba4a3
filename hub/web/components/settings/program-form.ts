import { useState } from 'preact/hooks'
import type { ModelFinding } from '../../../../schemas/model-choice.ts'
import type { KnownProgram } from '../../../../schemas/programs.ts'
import { html } from '../../html.ts'
import type { Mcp } from '../../mcp.ts'
import { useAction } from '../../use-tool.ts'
import { SettingFields, type Typed, toInitial, withScheme } from './setting-fields.ts'
import { TrialView } from './trial-view.ts'

/** Milliseconds for a trial, and for a server that starts anew. */
const LONGEST = 60_000

interface ProgramFormProps {
  program: KnownProgram
  /** The address at which the program answers; absent where nobody found it. */
  address?: string
  mcp: Mcp
  /** Called once it is connected. */
  onKept: () => Promise<void>
}

interface Trial {
  choice: { program: string; settings: Typed; name?: string }
  works: boolean
  findings: ModelFinding[]
}

export interface SetProgram {
  file: string
  server: string
  state: string
  tools: number
  error?: string
}

/** Takes the settings of a program, tries them, and keeps them. */
export function ProgramForm({ program, address, mcp, onKept }: ProgramFormProps) {
  const { title, about } = program
  const [typed, setTyped] = useState<Typed>(() => ({
    ...toInitial(program.settings),
    ...(address !== undefined && { URL: address }),
  }))
  const settings = isFurther(program, typed) ? [...program.settings, toName(program)] : program.settings
  const [trial, setTrial] = useState<Trial | null>(null)
  const [kept, setKept] = useState<SetProgram | null>(null)
  const trying = useAction()
  const keeping = useAction()
  const attempt = (event: Event) => {
    event.preventDefault()
    const given = Object.fromEntries(program.settings.map(({ key }) => [key, typed[key] ?? '']))
    const name = isFurther(program, typed) && typed[NAME]?.trim()
    const choice = { program: program.program, settings: given, ...(name && { name }) }
    void trying.start(async () => {
      setTrial(null)
      setKept(null)
      setTrial({ choice, ...(await mcp.call<Omit<Trial, 'choice'>>('hub_try_program', choice, LONGEST)) })
    })
  }
  const keep = ({ choice }: Trial) =>
    keeping.start(async () => {
      setKept(await mcp.call<SetProgram>('hub_set_program', choice, LONGEST))
      await onKept()
    })
  return html`<form class="row-form" aria-label=${`Connect ${title}`} onSubmit=${attempt}>
      <p class="wide">${about}</p>
      <${SettingFields} settings=${settings} typed=${typed} onType=${setTyped} />
      <button class="primary" aria-disabled=${trying.isBusy ? 'true' : 'false'}>${trying.isBusy ? 'Trying it…' : 'Try it'}</button>
      ${trying.error && html`<p class="panel-error" role="alert">${trying.error}</p>`}
    </form>
    <div role="status">${
      trial &&
      html`<${TrialView} title=${title} works=${trial.works} findings=${trial.findings} kept=${kept && html`<${Kept} set=${kept} />`}
        verdict=${kept ? 'connected' : trial.works ? 'it can be connected' : 'it cannot be connected like this'} label=${trial.works ? 'Connect it' : 'Connect it all the same'}
        isBusy=${keeping.isBusy} error=${keeping.error} onKeep=${() => keep(trial)} />`
    }</div>`
}

/** Key of the field for the name of a further program of the same kind; settings have capitals. */
const NAME = 'name'

/** Tells whether another program of the same kind is connected. */
function isFurther({ isRepeatable, connected }: KnownProgram, { URL: address = '' }: Typed) {
  const host = URL.parse(withScheme(address))?.host
  return isRepeatable && connected.length > 0 && !connected.includes(host ?? address)
}

function toName({ title, connected }: KnownProgram) {
  return {
    key: NAME,
    label: 'Name',
    where: `One ${title} is connected (${connected.join(', ')}). With a name such as second both are kept; without one, this takes its place.`,
    isOptional: true,
  }
}

function Kept({ set: { file, server, state, tools, error } }: { set: SetProgram }) {
  const how =
    state === 'ready'
      ? `The server ${server} runs with it and has ${tools === 1 ? '1 tool' : `${tools} tools`}.`
      : `The server ${server} does not run yet: ${error ?? state}.`
  return html`<p class="card-text">It is connected, in <code class="wrap">${file}</code>. ${how}</p>`
}
