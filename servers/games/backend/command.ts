import { execFile } from 'node:child_process'

const MAX_OUTPUT = 8 * 1024 * 1024

export interface CommandResult {
  /** Undefined where a signal ended it. */
  code: number | undefined
  stdout: string
  stderr: string
}

/** Runs a program to its end. Rejects with ENOENT where there is none, and with the signal's reason when it aborts. */
export type RunCommand = (
  program: string,
  args: readonly string[],
  options: { env: Readonly<Record<string, string>>; signal?: AbortSignal | undefined },
) => Promise<CommandResult>

export const runCommand: RunCommand = (program, args, { env, signal }) =>
  new Promise((resolve, reject) => {
    const options = { env, maxBuffer: MAX_OUTPUT, ...(signal && { signal }) }
    execFile(program, [...args], options, (error, stdout, stderr) => {
      const code = error ? error.code : 0
      if (signal?.aborted) reject(signal.reason)
      else if (typeof code === 'string') reject(error)
      else resolve({ code: code ?? undefined, stdout, stderr })
    })
  })
