import { html } from '../html.ts'

const STEP = 18.6
const HEIGHT = 170
const GROUND = 168

/** Returns a number in [0, 1) that is the same at every drawing. */
function dice(n: number) {
  const x = Math.sin(n * 127.1 + 3.7) * 43758.5453
  return x - Math.floor(x)
}

/** Draws the field after the rain: grass, lupines, poppies and goldfields in a row. It is only decoration. */
export function Field({ plants = 34 }: { plants?: number }) {
  const stems = Array.from({ length: plants }, (_, i) => stem(i))
  return html`<svg class="field" viewBox=${`0 0 ${Math.round(plants * STEP) + 8} ${HEIGHT}`} preserveAspectRatio="xMidYMax slice" aria-hidden="true" focusable="false">
    ${stems.map(one => grass(one))}
    ${[...stems].sort((a, b) => b.height - a.height).map(one => plant(one))}
  </svg>`
}

function stem(i: number) {
  const x = 14 + i * STEP + (dice(i) - 0.5) * 14
  const height = 34 + dice(i + 50) ** 1.4 * 104
  const lean = (dice(i + 90) - 0.5) * 26
  return { i, x, height, tipX: x + lean, tipY: GROUND - height, size: 0.75 + dice(i + 130) * 0.5 }
}

function grass({ i, x, height }: ReturnType<typeof stem>) {
  const lean = (dice(i + 17) - 0.5) * 40
  const tip = GROUND - height * 0.55
  return html`<path class="blade" d=${`M${x + 6} ${GROUND}Q${x + 6} ${tip + 20} ${x + 6 + lean} ${tip}`} />`
}

function plant(one: ReturnType<typeof stem>) {
  const { i, x, tipX, tipY, size } = one
  const head = [poppy, goldfield, lupine, poppy, bud, goldfield, poppy][i % 7] ?? poppy
  return html`<g>
    <path class="stalk" d=${`M${x} ${GROUND}Q${x} ${(GROUND + tipY) / 2} ${tipX} ${tipY}`} />
    <g transform=${`translate(${tipX} ${tipY}) scale(${size})`}>${head(i)}</g>
  </g>`
}

function poppy(i: number) {
  return html`<g transform=${`rotate(${(dice(i + 7) - 0.5) * 40})`}>
    <path class="poppy-back" d="M-11-13C-6-17 6-17 11-13 9-3 5 2 0 2S-9-3-11-13z" />
    <path class="poppy" d="M-12-11C-8-8-3-8 0-12 3-8 8-8 12-11 12-1 6 4 0 4S-12-1-12-11z" />
  </g>`
}

function goldfield(i: number) {
  const petals = 6 + (i % 3)
  return html`<g class="gold">
      ${Array.from({ length: petals }, (_, k) => html`<ellipse cx="0" cy="-6" rx="2.6" ry="4.6" transform=${`rotate(${(k * 360) / petals})`} />`)}
    </g>
    <circle class="gold-heart" r="3" />`
}

function lupine() {
  return html`<g class="lupine">
    ${Array.from({ length: 8 }, (_, k) => {
      const wide = 6.5 - k * 0.7
      return html`<ellipse cx=${k % 2 ? wide / 2 : -wide / 2} cy=${14 - k * 4.6} rx=${wide * 0.72} ry="3.1" />`
    })}
  </g>`
}

function bud() {
  return html`<path class="poppy-back" d="M0-12c4 3 5 8 0 13-5-5-4-10 0-13z" />`
}
