import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import { useStore } from '../../hooks.ts'
import { html } from '../../html.ts'
import { theme } from '../../theme.ts'
import { clockTime, shortDay } from '../../time.ts'
import { type ChartLines, toTimes } from './chart-lines.ts'

const HEIGHT = 170
/** Pixels that a time such as "05:00 PM" takes on the axis, with room beside it. */
const TIME_SPACE = 80
/** Colours of lines; further lines have them again, dashed. */
const COLOURS = 6

/** Writes numbers so that they fit beside the axis. */
const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 2 })

interface ChartProps {
  chart: ChartLines
  from: number
  stepSeconds: number
  /** Words for the span: "the last day". */
  span: string
}

/** Draws lines over time, and says under them what they are in words. */
export function Chart({ chart, from, stepSeconds, span }: ChartProps) {
  const { title, unit, lines } = chart
  const box = useRef<HTMLDivElement>(null)
  const look = useStore(theme)
  useEffect(() => {
    if (!box.current) return
    return draw(box.current, { chart, from, stepSeconds })
  }, [chart, from, stepSeconds, look])
  return html`<figure class="chart">
    <figcaption>${title}</figcaption>
    <div class="chart-plot" ref=${box} role="img" aria-label=${`${title} over ${span}; the table below has the figures`}></div>
    <div class="chart-figures" tabindex="0" role="region" aria-label=${`Figures of ${title}`}>
      <table>
        <thead><tr><th scope="col">Line</th><th scope="col">Latest</th><th scope="col">Min</th><th scope="col">Max</th></tr></thead>
        <tbody>${lines.map(
          ({ label, latest, least, most }, index) => html`<tr key=${label}>
            <th scope="row"><span class=${`line line-${index % COLOURS} ${index >= COLOURS ? 'line-dashed' : ''}`} aria-hidden="true"></span>${label}</th>
            <td>${latest === null ? '–' : words(latest, unit)}</td><td>${words(least, unit)}</td><td>${words(most, unit)}</td>
          </tr>`,
        )}</tbody>
      </table>
    </div>
  </figure>`
}

function words(value: number, unit: string) {
  return `${value.toLocaleString('en', { maximumFractionDigits: 1 })} ${unit}`
}

function timeWords(at: number, stepSeconds: number) {
  return stepSeconds < 3600 ? clockTime(at) : shortDay(at)
}

/** Draws the lines into an element, and again when its width changes; the returned function ends that. */
function draw(element: HTMLElement, { chart, from, stepSeconds }: Omit<ChartProps, 'span'>) {
  const { lines, unit } = chart
  const isShare = unit === '%' && lines.every(({ least, most }) => least >= 0 && most <= 100)
  const marks = [...(element.parentElement?.querySelectorAll('.line') ?? [])]
  const colours = marks.map(mark => getComputedStyle(mark).color)
  const { color: ink, borderTopColor: grid } = getComputedStyle(element)
  const axis = { stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 } }
  const plot = new uPlot(
    {
      width: Math.max(100, element.clientWidth),
      height: HEIGHT,
      legend: { show: false },
      cursor: { show: false },
      scales: { y: isShare ? { range: [0, 100] } : {} },
      axes: [
        {
          ...axis,
          space: TIME_SPACE,
          values: (_, splits) => splits.map(at => timeWords(at * 1000, stepSeconds)),
        },
        { ...axis, size: 58, values: (_, splits) => splits.map(value => `${COMPACT.format(value)} ${unit}`) },
      ],
      series: [
        {},
        ...lines.map(({ values }, index) => ({
          stroke: colours[index] ?? ink,
          width: 1.5,
          // A line wants two values.
          points: { show: values.filter(value => value !== null).length < 2 },
          ...(index >= COLOURS ? { dash: [4, 4] } : {}),
        })),
      ],
    },
    [toTimes(from, stepSeconds, lines[0]?.values.length ?? 0), ...lines.map(({ values }) => values)],
    element,
  )
  const observer = new ResizeObserver(() => {
    if (element.clientWidth > 0) plot.setSize({ width: element.clientWidth, height: HEIGHT })
  })
  observer.observe(element)
  return () => {
    observer.disconnect()
    plot.destroy()
  }
}
