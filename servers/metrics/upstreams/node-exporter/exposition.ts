/** One sample of Prometheus' text format. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>
  /** May be NaN or infinite. */
  readonly value: number
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)(?:\s+-?\d+)?$/
/**
 * Matches from the start of a word only, so that a long word is read once and not from each of its letters.
 */
const LABEL = /(?<!\w)([a-zA-Z_]\w*)\s*=\s*"((?:[^"\\]|\\.)*)"/g

/**
 * Parses the samples of a text by their metric's name, only the wanted names; comments and invalid lines are
 * skipped. Format: https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
 */
export function parseExposition(
  text: string,
  isWanted: (name: string) => boolean = () => true,
): Map<string, Sample[]> {
  const samples = new Map<string, Sample[]>()
  for (const line of text.split('\n')) {
    if (line.startsWith('#')) continue
    const found = LINE.exec(line.trim())
    const [, name = '', labels = '', value = ''] = found ?? []
    if (!found || !isWanted(name)) continue
    const known = samples.get(name) ?? []
    known.push({ labels: parseLabels(labels), value: parseValue(value) })
    samples.set(name, known)
  }
  return samples
}

function parseLabels(text: string): Record<string, string> {
  const toPlain = (value: string) =>
    value.replace(/\\(.)/g, (_, letter: string) => (letter === 'n' ? '\n' : letter))
  return Object.fromEntries(
    [...text.matchAll(LABEL)].map(([, name = '', value = '']) => [name, toPlain(value)]),
  )
}

/** Parses "NaN", "+Inf", "-Inf" and "Inf" besides JavaScript's numbers. */
export function parseValue(text: string): number {
  const infinite = /^([+-]?)inf(?:inity)?$/i.exec(text)
  if (infinite) return infinite[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
  return Number(text)
}
