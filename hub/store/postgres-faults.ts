import { type FaultKind, StoreFault } from './writer.ts'

interface Fault {
  codes: RegExp
  kind: FaultKind
  text: string
}

/** By SQLSTATE, or by the code of the system for a connection. */
const FAULTS: readonly Fault[] = [
  {
    codes: /^53100$/,
    kind: 'full',
    text: 'The disk of PostgreSQL is full, so nothing was stored. Make room on it, then try again.',
  },
  {
    codes: /^(40001|40P01)$/,
    kind: 'locked',
    text: 'Another program works on the tables of the hub, so nothing was stored. End it, then try again.',
  },
  {
    codes: /^XX00[12]$/,
    kind: 'damaged',
    text: 'The database in PostgreSQL is damaged. Stop the hub and put a backup back with `superbloom restore`.',
  },
  {
    // Connections, resources, who may enter, shutdowns, files of the server, and a server that is read-only.
    codes: /^(08...|53...|28...|3D000|57P..|58...|25006|42501|E[A-Z]+)$/,
    kind: 'unreachable',
    text: 'PostgreSQL cannot be used. Check that it runs, and that the hub may write to its database.',
  },
]

/** Returns whether the connection is gone, so that it is not known what became of what was sent last. */
export function isConnectionLost(error: unknown): boolean {
  const code = codeOf(error)
  return code === undefined || /^(08...|57P..|E[A-Z]+)$/.test(code)
}

/** Returns a failure of the database itself as a StoreFault; any other error as it is. */
export function toFault(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof StoreFault) return error
  const code = codeOf(error)
  // pg reports a connection that ended, and one that did not come in time, without a code.
  const fault = FAULTS.find(({ codes }) => codes.test(code ?? 'EPIPE'))
  if (!fault) return error
  return new StoreFault(fault.kind, `${fault.text} (${code ?? error.message})`, { cause: error })
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** The connection broke while a commit was under way. */
export class UncertainCommit extends StoreFault {
  /** Process of PostgreSQL that was asked to commit. */
  readonly process: number | undefined

  constructor(process: number | undefined, options: ErrorOptions) {
    super(
      'unreachable',
      'The connection to PostgreSQL broke during a commit, so it is not known what was stored.',
      options,
    )
    this.name = 'UncertainCommit'
    this.process = process
  }
}
