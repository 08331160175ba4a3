import { describeError } from './log.ts'

/**
 * A failure in words for a model and a person: each field is a sentence or two, without internals or secrets.
 */
export interface Failure {
  /** The failure itself: "The disks' health could not be read." */
  what: string
  /** The tool, the address, the path: "smartctl on /dev/sda". */
  where: string
  why: string
  /** Advice on what the reader can do now. */
  fix: string
  /** True where nobody set up what the tool asks. */
  isUnconfigured?: true
}

/** A failure that a tool throws on purpose; anything else that a handler throws is described by `toFailure`. */
export class ToolFailure extends Error {
  readonly failure: Failure

  constructor(failure: Failure, options?: ErrorOptions) {
    super(failure.what, options)
    this.name = 'ToolFailure'
    this.failure = failure
  }
}

/** Converts any thrown value to a failure; `where` names the tool that ran. */
export function toFailure(error: unknown, where: string): Failure {
  if (error instanceof ToolFailure) return error.failure
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return {
      what: `${where} took too long and was stopped.`,
      where,
      why: error.message,
      fix: 'Try once more; if it stays so, ask for less at a time, or look at what it reads from.',
    }
  }
  return {
    what: `${where} failed.`,
    where,
    why: describeError(error),
    fix: 'Try once more; if it stays so, the log of this server (its stderr) says more.',
  }
}

/** Returns the failure as text, one field per line. */
export function toFailureText(failure: Failure): string {
  return [failure.what, `Where: ${failure.where}`, `Why: ${failure.why}`, `What to do: ${failure.fix}`].join(
    '\n',
  )
}
