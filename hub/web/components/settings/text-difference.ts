import { html } from '../../html.ts'
import { diffLines } from '../../line-diff.ts'

/** Lines beside a difference that are shown too. */
const AROUND = 2
const SIGNS = { same: ' ', removed: '-', added: '+' }

/** Shows the lines that differ between two texts, with some around them. */
export function TextDifference({ before, after }: { before: string; after: string }) {
  const lines = diffLines(before, after)
  const isNear = lines.map((_, i) =>
    lines.slice(Math.max(0, i - AROUND), i + AROUND + 1).some(near => near.kind !== 'same'),
  )
  const shown = lines.flatMap((line, i) => {
    if (isNear[i]) return [line]
    return isNear[i - 1] ? [{ kind: 'same' as const, text: '…' }] : []
  })
  return html`<pre class="fold-text difference" tabindex="0" role="region" aria-label="The difference">${shown.map(
    ({ kind, text }, i) => html`<span key=${i} class=${`line-${kind}`}>${SIGNS[kind]} ${text}${'\n'}</span>`,
  )}</pre>`
}
