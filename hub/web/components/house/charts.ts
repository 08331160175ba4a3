import { useMemo, useState } from 'preact/hooks'
import type { DashboardChart } from '../../../../schemas/house.ts'
import type { ConfigInForce } from '../../../../schemas/hub-lists.ts'
import { useTicks } from '../../hooks.ts'
import { html } from '../../html.ts'
import type { SectionProps } from '../../places.ts'
import { useTool } from '../../use-tool.ts'
import { Section } from '../section.ts'
import { Chart } from './chart.ts'
import { type HostHistory, toCharts } from './chart-lines.ts'
import { PrometheusCharts } from './prometheus-charts.ts'

/** Milliseconds between two readings, while the page is visible: the history has a step each minute. */
const REFRESH = 60_000
const SPANS = { hour: 'the last hour', day: 'the last day', week: 'the last week' }
type Span = keyof typeof SPANS

/** Shows how the figures of each host went. */
export function Charts({ mcp, news }: SectionProps) {
  const [span, setSpan] = useState<Span>('hour')
  const config = useTool<ConfigInForce>({ mcp, news }, 'hub_read_config')
  const charts = useMemo(() => chartsOf(config.value), [config.value])
  return html`<div>
    <div class="spans" role="group" aria-label="How far back">
      ${(['hour', 'day', 'week'] as const).map(
        one =>
          html`<button type="button" key=${one} class="tab" aria-pressed=${one === span ? 'true' : 'false'} onClick=${() => setSpan(one)}>${one}</button>`,
      )}
    </div>
    <${HostCharts} key=${span} mcp=${mcp} span=${span} />
    ${charts && html`<${PrometheusCharts} key=${`prometheus ${span}`} mcp=${mcp} span=${span} words=${SPANS[span]} charts=${charts} />`}
  </div>`
}

/** Returns the charts that the config names; null while it is read. */
function chartsOf(config: ConfigInForce | null) {
  const value = config?.values.find(({ key }) => key === 'dashboard')?.value
  return config && ((JSON.parse(value ?? '{}') as { charts?: DashboardChart[] }).charts ?? [])
}

/** Shows a host's charts, and those of the other hosts that its answer names. */
function HostCharts({ mcp, span, host }: Pick<SectionProps, 'mcp'> & { span: Span; host?: string }) {
  const news = useTicks(REFRESH)
  const args = { history: span, ...(host === undefined ? {} : { host }) }
  const { value, error } = useTool<HostHistory>({ mcp, news }, 'get_system_metrics', args)
  const { from = 0, stepSeconds = 1, curves = [] } = value?.history ?? {}
  const charts = useMemo(() => toCharts(curves), [value])
  const others = host === undefined ? (value?.otherHosts ?? []) : []
  return html`<${Section} title=${value?.host ?? host ?? 'This machine'} error=${error} isLoading=${value === null}>
      ${charts.length === 0 && html`<p class="panel-none">Nothing was measured yet. A figure is added each minute.</p>`}
      <div class="charts">
        ${charts.map(chart => html`<${Chart} key=${chart.title} chart=${chart} from=${from} stepSeconds=${stepSeconds} span=${SPANS[span]} />`)}
      </div>
    <//>
    ${others.map(other => html`<${HostCharts} key=${other} mcp=${mcp} span=${span} host=${other} />`)}`
}
