import { useMemo, useState } from 'preact/hooks'
import type { ServerTool } from '../../../../schemas/hub-servers.ts'
import { useReveal } from '../../hooks.ts'
import { html, typedIn } from '../../html.ts'
import type { Mcp, ToolResult } from '../../mcp.ts'
import { readSchemaFields, type SchemaField, toArguments } from '../../schema-form.ts'
import { useAction } from '../../use-tool.ts'
import { Shown } from '../shown.ts'

/** Milliseconds that a tool may take here. */
const LONGEST = 120_000

/** Calls a tool with a form of its arguments, and shows what it answers. It is the person's own call. */
export function TryTool({ tool, mcp }: { tool: ServerTool; mcp: Mcp }) {
  const fields = useMemo(() => readSchemaFields(tool.inputSchema), [tool.inputSchema])
  const [typed, setTyped] = useState(() =>
    Object.fromEntries(fields.map(({ name, initial }) => [name, initial])),
  )
  const [errors, setErrors] = useState<Record<string, string>>({})
  const [result, setResult] = useState<ToolResult | null>(null)
  const { isBusy, error, start } = useAction()
  const onSubmit = (event: Event) => {
    event.preventDefault()
    const read = toArguments(fields, typed)
    setErrors(read.errors ?? {})
    if (!read.args) return
    const { args } = read
    setResult(null)
    void start(async () => setResult(await mcp.callTool(tool.name, args, LONGEST)))
  }
  return html`<form class="row-form try-form" aria-label=${`Try ${tool.name}`} noValidate onSubmit=${onSubmit}>
    ${fields.map(field => html`<${Field} key=${field.name} of=${tool.name} field=${field} value=${typed[field.name] ?? ''} error=${errors[field.name]} onType=${(text: string) => setTyped({ ...typed, [field.name]: text })} />`)}
    <button class="primary" aria-disabled=${isBusy ? 'true' : 'false'}>${isBusy ? 'Calling…' : 'Call it'}</button>
    ${error && html`<p class="panel-error" role="alert">${error}</p>`}
    <div class="wide" role="status">${result && html`<${Answer} of=${tool.name} result=${result} />`}</div>
  </form>`
}

interface FieldProps {
  /** The tool's name, which makes ids differ. */
  of: string
  field: SchemaField
  value: string
  error: string | undefined
  onType: (text: string) => void
}

function Field({ of, field, value, error, onType }: FieldProps) {
  const { name, about, required, kind, choices } = field
  const id = `${of}.${name}`
  const described = [about && `${id}.about`, error && `${id}.error`].filter(Boolean).join(' ') || undefined
  const shared = {
    id,
    'aria-describedby': described,
    'aria-invalid': error ? 'true' : undefined,
    'aria-required': required ? 'true' : undefined,
  }
  const onInput = (event: Event) => onType(typedIn(event))
  const input =
    kind === 'choice'
      ? html`<select ...${shared} value=${value} onChange=${onInput}><option value="">${required ? 'Choose' : 'Not given'}</option>${choices.map(one => html`<option key=${one.value} value=${one.value}>${one.title}</option>`)}</select>`
      : kind === 'json'
        ? html`<textarea ...${shared} rows="3" spellcheck=${false} value=${value} onInput=${onInput}></textarea>`
        : kind === 'boolean'
          ? html`<input ...${shared} type="checkbox" checked=${value === 'true'} onChange=${(event: Event) => onType(String((event.target as HTMLInputElement).checked))} />`
          : html`<input ...${shared} type="text" inputmode=${kind === 'text' ? undefined : 'decimal'} autocomplete="off" autocapitalize="none" spellcheck=${false} value=${value} onInput=${onInput} />`
  return html`<div class=${kind === 'boolean' ? 'try-field try-check' : 'try-field'}>
    <label for=${id}>${name}${required ? ' (needed)' : ''}</label>${input}
    ${about && html`<p class="field-about" id=${`${id}.about`}>${about}</p>`}
    ${error && html`<p class="panel-error" id=${`${id}.error`} role="alert">${error}</p>`}
  </div>`
}

function Answer({ of, result }: { of: string; result: ToolResult }) {
  const { content = [], structuredContent, isError } = result
  const text = content.map(block => (block.type === 'text' ? block.text : `(${block.type})`)).join('\n')
  const shown = useReveal(result)
  const data =
    structuredContent &&
    html`<${Shown} label=${`Structured answer of ${of}`} text=${JSON.stringify(structuredContent, null, 2)} />`
  return html`<div class="try-answer" ref=${shown}>
    <p>${isError ? 'It answers with an error:' : 'It answers:'}</p>
    ${text && html`<${Shown} label=${`Answer of ${of}`} text=${text} />`}
    ${data !== undefined && (text ? html`<details class="fold"><summary>The same as data</summary>${data}</details>` : data)}
  </div>`
}
