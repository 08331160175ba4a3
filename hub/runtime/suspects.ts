/** The attempt at which a step runs alone: the hub crashed twice while its cycle ran, and others ran too. */
const ALONE_AT = 3

/** Decides how a cycle goes on after crashes of the hub: only a crash while it ran alone is its own. */
export function decideAttempt(attempts: number): 'together' | 'alone' | 'dead' {
  if (attempts < ALONE_AT) return 'together'
  return attempts === ALONE_AT ? 'alone' : 'dead'
}

/** Thrown if the cycle is a suspect of a crash, and may be claimed only in a turn of its own. */
export class MustRunAlone extends Error {}
