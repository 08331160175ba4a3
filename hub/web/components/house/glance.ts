import type { House, Tile, TileRow } from '../../../../schemas/house.ts'
import { useNow, useTicks } from '../../hooks.ts'
import { html } from '../../html.ts'
import type { SectionProps } from '../../places.ts'
import { relative } from '../../time.ts'
import { useTool } from '../../use-tool.ts'
import { toolWords } from '../../words.ts'
import { Icon } from '../icons.ts'
import { Section } from '../section.ts'
import { Time } from '../time.ts'

/** Milliseconds between two readings, while the page is visible. */
const REFRESH = 15_000
/** Milliseconds of age from which on a tile says how old it is. */
const OLD = 60_000

/** Shows the house at a glance: tiles of what the servers measure and of what agents show. */
export function Glance({ mcp }: SectionProps) {
  const news = useTicks(REFRESH)
  const { value, error } = useTool<House>({ mcp, news }, 'hub_read_house')
  const now = useNow(REFRESH)
  const tiles = value?.tiles ?? []
  return html`<${Section} title="The house" error=${error} isLoading=${value === null}>
    ${tiles.length === 0 && html`<p class="panel-none">Nothing has a tile yet. The servers bring them: see Servers in the panel of the hub.</p>`}
    <ul class="tiles">${tiles.map(one => html`<${TileCard} key=${one.id} tile=${one} now=${now} />`)}</ul>
  <//>`
}

function TileCard({ tile, now }: { tile: Tile; now: number }) {
  const { title, source, state, reason, at, summary, rows, more, text, power } = tile
  return html`<li class=${`card tile tile-${state}`}>
    <h4 class="card-name">${title}</h4>
    ${state === 'failed' && html`<p class="panel-error tile-reason">${reason}</p>`}
    ${state === 'waiting' && html`<p class="panel-none">Reading…</p>`}
    ${summary && html`<p class="card-text">${summary}</p>`}
    ${rows.length > 0 && html`<dl>${rows.map((row, index) => html`<${Row} key=${index} row=${row} />`)}</dl>`}
    ${more !== undefined && html`<p class="card-facts"><span>${more} more</span></p>`}
    ${power && html`<p class="server-note">Written by work that ${power === 'guest' ? 'a guest' : 'a text from outside'} began:</p>`}
    ${text !== undefined && html`<div class="tile-text" dir="auto" tabindex="0" role="region" aria-label=${`Text of ${title}`}>${text}</div>`}
    <p class="card-facts">
      <span>${toolWords(source)}</span>
      ${at !== undefined && now - at > OLD && html`<span><${Time} at=${at}>${relative(at, now)}<//></span>`}
    </p>
  </li>`
}

const TONE_WORDS = { good: 'good', warn: 'warning', bad: 'problem' }

function Row({ row: { name, text, percent, tone } }: { row: TileRow }) {
  const isMarked = tone === 'warn' || tone === 'bad'
  return html`<div class=${`tile-row ${tone ? `tone-${tone}` : ''}`}>
    <dt>${isMarked && html`<${Icon} name="alert" />`}${name}${tone && html`<span class="visually-hidden"> (${TONE_WORDS[tone]})</span>`}</dt>
    <dd>${text}${percent !== undefined && html`<progress max="100" value=${percent} aria-hidden="true"></progress>`}</dd>
  </div>`
}
