/** At its third attempt a step is tried alone: two crashes of the hub came while its cycle ran, and others ran too. */
const ALONE_AT = 3

/** How a cycle goes on after crashes of the hub: only a crash while it ran alone is its own. */
export function decideAttempt(attempts: number): 'together' | 'alone' | 'dead' {
  if (attempts < ALONE_AT) return 'together'
  return attempts === ALONE_AT ? 'alone' : 'dead'
}

/** The cycle is a suspect and may be claimed only in a turn of its own. */
export class MustRunAlone extends Error {}
