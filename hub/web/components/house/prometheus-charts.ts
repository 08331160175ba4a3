import { useEffect, useState } from 'preact/hooks'
import type { DashboardChart } from '../../../../schemas/house.ts'
import { useStore, useTicks } from '../../hooks.ts'
import { html } from '../../html.ts'
import { type Mcp, McpError, reasonOf } from '../../mcp.ts'
import { Section } from '../section.ts'
import { Chart } from './chart.ts'
import type { ChartLines } from './chart-lines.ts'
import { type QueryAnswer, toQueryChart, USUAL } from './query-chart.ts'

/** Milliseconds between two readings, while the page is visible. */
const REFRESH = 60_000
/** Lines of one chart. */
const LINES = 8
/** How each span is asked for: 48 steps. */
const ASKED = {
  hour: { range: '1h', step: '75s' },
  day: { range: '1d', step: '30m' },
  week: { range: '7d', step: '210m' },
}

interface PrometheusChartsProps {
  mcp: Mcp
  span: keyof typeof ASKED
  /** Words for the span: "the last day". */
  words: string
  /** Charts of the config. */
  charts: readonly DashboardChart[]
}

type Drawn = { chart: ChartLines; from: number; stepSeconds: number }
type Read = { drawn: Drawn[]; errors: string[] }

/** Draws the charts of the config, else the usual ones, from Prometheus; shows nothing where there is none. */
export function PrometheusCharts({ mcp, span, words, charts }: PrometheusChartsProps) {
  const ticks = useStore(useTicks(REFRESH))
  const [read, setRead] = useState<Read | null>(null)
  useEffect(() => {
    let isOver = false
    void readAll(mcp, charts.length > 0 ? charts : USUAL, span).then(next => {
      if (!isOver) setRead(next)
    })
    return () => {
      isOver = true
    }
  }, [mcp, charts, span, ticks])
  const { drawn = [], errors = [] } = read ?? {}
  if (drawn.length + errors.length === 0) return null
  return html`<${Section} title="Prometheus" error=${errors.join('\n')} isLoading=${false}>
    <div class="charts">
      ${drawn.map(({ chart, from, stepSeconds }) => html`<${Chart} key=${chart.title} chart=${chart} from=${from} stepSeconds=${stepSeconds} span=${words} />`)}
    </div>
  <//>`
}

async function readAll(mcp: Mcp, charts: readonly DashboardChart[], span: keyof typeof ASKED): Promise<Read> {
  const read: Read = { drawn: [], errors: [] }
  const answers = await Promise.allSettled(
    charts.map(({ query }) =>
      mcp.call<QueryAnswer>('query_prometheus', { query, ...ASKED[span], plot: false, limit: LINES }),
    ),
  )
  for (const [index, answer] of answers.entries()) {
    const asked = charts[index]
    if (!asked) continue
    if (answer.status === 'fulfilled') {
      const { from = 0, stepSeconds = 1 } = answer.value
      const chart = toQueryChart(asked, answer.value)
      if (chart) read.drawn.push({ chart, from, stepSeconds })
      else if (charts !== USUAL) read.errors.push(`${asked.title}: Prometheus has no values for it then.`)
    } else if (charts !== USUAL || isFailure(answer.reason)) read.errors.push(reasonOf(answer.reason))
  }
  return { ...read, errors: [...new Set(read.errors)] }
}

/** Tells whether Prometheus failed, rather than that nobody set it up. */
function isFailure(error: unknown) {
  return error instanceof McpError && error.kind === 'tool'
}
