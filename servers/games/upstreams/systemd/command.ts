import { execFile } from 'node:child_process'

const MAX_OUTPUT = 8 * 1024 * 1024
/** Milliseconds: systemctl itself waits this long for an answer, and is only used for short requests. */
const LIMIT = 25_000

export interface CommandResult {
  /** Undefined if a signal ended it. */
  code: number | undefined
  stdout: string
  stderr: string
}

/**
 * Runs a program to its end. Rejects with ENOENT if it does not exist, with a TimeoutError if it takes too
 * long, and with the signal's reason when it aborts.
 */
export type RunCommand = (
  program: string,
  args: readonly string[],
  options: { env: Readonly<Record<string, string>>; signal?: AbortSignal | undefined },
) => Promise<CommandResult>

/** Returns a RunCommand; `limit`: milliseconds that a program gets. */
export const createCommand =
  (limit: number): RunCommand =>
  (program, args, { env, signal }) =>
    new Promise((resolve, reject) => {
      const options = { env, maxBuffer: MAX_OUTPUT, timeout: limit, ...(signal && { signal }) }
      execFile(program, [...args], options, (error, stdout, stderr) => {
        const code = error ? error.code : 0
        if (signal?.aborted) reject(signal.reason)
        else if (typeof code === 'string') reject(error)
        else if (error?.killed)
          reject(new DOMException(`${program} did not end within ${limit / 1000} s`, 'TimeoutError'))
        else resolve({ code: code ?? undefined, stdout, stderr })
      })
    })

export const runCommand = createCommand(LIMIT)
