import type { ConfigInForce as Read } from '../../../../schemas/hub-lists.ts'
import { html } from '../../html.ts'
import type { SectionProps } from '../../places.ts'
import { useTool } from '../../use-tool.ts'
import { Section } from '../section.ts'

/** Shows the effective config with the source of each value, what somebody set first. */
export function ConfigInForce(props: SectionProps) {
  const { value, error } = useTool<Read>(props, 'hub_read_config')
  const values = value?.values ?? []
  const isDefault = ({ origin, value }: Read['values'][number]) => origin === 'default' || value === undefined
  return html`<${Section} title="Config in force" error=${error} isLoading=${value === null}>
      <p class="card-text">What the hub goes by now. To change a value, write it into <code class="wrap">${value?.file}</code>: a change takes effect within two seconds, and a wrong one is refused whole. Secrets are not shown.</p>
      ${value && value.problems.length > 0 && html`<ul class="problems">${value.problems.map(one => html`<li key=${one}>${one}</li>`)}</ul>`}
      <${Values} values=${values.filter(one => !isDefault(one))} file=${value?.file} />
      <details class="fold"><summary>Values that nobody set</summary><${Values} values=${values.filter(isDefault)} /></details>
    <//>`
}

function Values({ values, file }: { values: Read['values']; file?: string }) {
  return html`<ul class="cards">
    ${values.map(
      ({ key, value, origin }) => html`<li class="card" key=${key}>
        <div class="card-head"><span class="card-name">${key}</span>${origin !== 'default' && html`<span class="card-state">${origin === file ? 'from the file' : origin}</span>`}</div>
        <pre class="fold-text" tabindex="0" role="group" aria-label=${`Value of ${key}`}>${value === undefined ? 'not set' : toLines(value)}</pre>
      </li>`,
    )}
  </ul>`
}

/** Writes JSON over several lines where it is long. */
function toLines(json: string) {
  return json.length > 60 ? JSON.stringify(JSON.parse(json), null, 2) : json
}
