import { useState } from 'preact/hooks'
import type { FoundModels, ModelChoice, ModelFinding } from '../../../../schemas/model-choice.ts'
import type { ProviderName } from '../../../../schemas/providers.ts'
import { html, typedIn } from '../../html.ts'
import type { Mcp } from '../../mcp.ts'
import { useAction } from '../../use-tool.ts'
import { withScheme } from './setting-fields.ts'
import { TrialView } from './trial-view.ts'

/** Milliseconds for a trial: a model at home may have to be loaded first. */
const TRIAL = 11 * 60_000

interface SetupModelProps {
  mcp: Mcp
  onKept: () => Promise<void>
}

interface Trial {
  choice: ModelChoice
  works: boolean
  findings: ModelFinding[]
}

/** Finds models on the hub's machine, or takes a provider's key; tries one, and keeps it. */
export function SetupModel({ mcp, onKept }: SetupModelProps) {
  const [found, setFound] = useState<FoundModels | null>(null)
  const [trial, setTrial] = useState<Trial | null>(null)
  const [kept, setKept] = useState<string | null>(null)
  const looking = useAction()
  const trying = useAction()
  const keeping = useAction()
  const look = () => looking.start(async () => setFound(await mcp.call<FoundModels>('hub_find_models')))
  const attempt = (choice: ModelChoice) =>
    trying.start(async () => {
      setTrial(null)
      setKept(null)
      const told = await mcp.call<Omit<Trial, 'choice'>>('hub_try_model', { ...choice }, TRIAL)
      setTrial({ choice, ...told })
    })
  const keep = ({ choice }: Trial) =>
    keeping.start(async () => {
      const { file } = await mcp.call<{ file: string }>('hub_set_model', { ...choice })
      setKept(file)
      await onKept()
    })
  const error = looking.error ?? trying.error
  return html`<div class="card-actions"><button type="button" class="primary" aria-disabled=${looking.isBusy ? 'true' : 'false'} onClick=${look}>${looking.isBusy ? 'Looking…' : 'Look on this machine'}</button></div>
    ${found && html`<${Found} found=${found} onTry=${attempt} />`}
    <${ByHand} mcp=${mcp} onTry=${attempt} />
    ${error && html`<p class="panel-error" role="alert">${error}</p>`}
    <div role="status">
      ${trying.isBusy && html`<p class="panel-none">Trying it with what an agent sends. This may take minutes where it has to be loaded first.</p>`}
      ${trial && html`<${ModelTrial} trial=${trial} kept=${kept} isBusy=${keeping.isBusy} error=${keeping.error} onKeep=${() => keep(trial)} />`}
    </div>`
}

type OnTry = (choice: ModelChoice) => void

function Found({ found, onTry }: { found: FoundModels; onTry: OnTry }) {
  const servers = found.servers.filter(({ models }) => models.length > 0)
  if (servers.length === 0)
    return html`<p class="panel-none">Nothing answers at the usual ports of Ollama, LM Studio, llama.cpp and vLLM. Start one, or take a provider's key.</p>`
  return html`<ul class="cards">
    ${servers.map(
      ({ baseUrl, program, models }) => html`<li class="card" key=${baseUrl}>
        <div class="card-head"><span class="card-name">${program ?? 'A model server'}</span><code class="card-state">${baseUrl}</code></div>
        <ul class="fold-list">${models.map(
          model =>
            html`<li key=${model} class="card-actions"><span>${model}</span><button type="button" class="quiet" onClick=${() => onTry({ baseUrl, model })}>Try it<span class="visually-hidden">: ${model}</span></button></li>`,
        )}</ul>
      </li>`,
    )}
  </ul>`
}

const PROVIDERS: Record<ProviderName, string> = {
  anthropic: 'Anthropic',
  openai: 'OpenAI',
  google: 'Google',
  mistral: 'Mistral',
  deepseek: 'DeepSeek',
  openrouter: 'OpenRouter',
  compatible: "a server that speaks OpenAI's API",
}

function ByHand({ mcp, onTry }: { mcp: Mcp; onTry: OnTry }) {
  const [provider, setProvider] = useState<ProviderName>('anthropic')
  const [baseUrl, setBaseUrl] = useState('')
  const [apiKey, setApiKey] = useState('')
  const [model, setModel] = useState('')
  const [sees, setSees] = useState(false)
  const [offered, setOffered] = useState<string[]>([])
  const isOwn = provider === 'compatible'
  /** Offers the names that the server lists; where it does not answer, the trial says why. */
  const list = async () => {
    if (!isOwn || !URL.canParse(withScheme(baseUrl))) return setOffered([])
    const asked = { baseUrl: withScheme(baseUrl), ...(apiKey.trim() && { apiKey: apiKey.trim() }) }
    const found = await mcp.call<FoundModels>('hub_find_models', asked).catch(() => null)
    const names = found?.servers.flatMap(({ models }) => models) ?? []
    setOffered(names)
    if (names.length === 1) setModel(typed => typed || (names[0] ?? ''))
  }
  const onSubmit = (event: Event) => {
    event.preventDefault()
    const key = apiKey.trim()
    onTry({
      provider,
      model: model.trim(),
      ...(key && { apiKey: key }),
      ...(isOwn && { baseUrl: withScheme(baseUrl) }),
      ...(sees && { vision: true }),
    })
  }
  return html`<form class="row-form" onSubmit=${onSubmit}>
    <label>Provider <select value=${provider} onChange=${(event: Event) => setProvider(typedIn(event) as ProviderName)}>
      ${Object.entries(PROVIDERS).map(([id, name]) => html`<option key=${id} value=${id}>${name}</option>`)}
    </select></label>
    ${isOwn && html`<label>Address <input required inputmode="url" autocomplete="off" autocapitalize="none" spellcheck="false" placeholder="http://nas:11434/v1" value=${baseUrl} onInput=${(event: Event) => setBaseUrl(typedIn(event))} onChange=${list} /></label>`}
    <label>Key <input type="password" autocomplete="off" placeholder=${isOwn ? 'may stay empty' : ''} value=${apiKey} onInput=${(event: Event) => setApiKey(typedIn(event))} onChange=${list} /></label>
    <label>Model <input required autocomplete="off" autocapitalize="none" spellcheck="false" list="models-offered" value=${model} onInput=${(event: Event) => setModel(typedIn(event))} /></label>
    <datalist id="models-offered">${offered.map(name => html`<option key=${name} value=${name} />`)}</datalist>
    <label class="try-check"><input type="checkbox" checked=${sees} onChange=${(event: Event) => setSees((event.target as HTMLInputElement).checked)} /> It sees pictures, which not every server says</label>
    <button class="primary">Try it</button>
  </form>`
}

interface ModelTrialProps {
  trial: Trial
  /** The file that has it now. */
  kept: string | null
  isBusy: boolean
  error: string | undefined
  onKeep: () => void
}

function ModelTrial({ trial, kept, ...rest }: ModelTrialProps) {
  const { choice, works, findings } = trial
  const said =
    kept &&
    html`<p class="card-text">It is the default model now, in <code class="wrap">${kept}</code>. Say something in the chat.</p>`
  return html`<${TrialView} title=${choice.model} works=${works} findings=${findings} kept=${said} ...${rest}
    verdict=${kept ? 'in use' : works ? 'agents can use it' : 'agents cannot use it like this'} label=${works ? 'Use it' : 'Use it all the same'} />`
}
