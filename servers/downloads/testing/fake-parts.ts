import type { Seen } from '../../kit/testing/faulty-upstream.ts'

export const GIB = 2 ** 30
export const HASH = 'a'.repeat(40)
export const DONE_HASH = 'b'.repeat(40)
export const BROKEN_HASH = 'c'.repeat(40)

/** Creates the state that a program shows: after `lag(n)` a change is shown only after n reads. */
export function createShown<State>(state: State) {
  let lag = 0
  let left = 0
  let shown = structuredClone(state)
  return {
    lag(reads: number) {
      lag = reads
    },
    /** Starts the lag; call it at every change. */
    changed() {
      if (left === 0) left = lag
    },
    read(): State {
      if (left > 0) left -= 1
      else shown = structuredClone(state)
      return shown
    },
  }
}

/** Returns the fields of a form, or the parts of a multipart body that are not files. */
export function toFields({ headers, body }: Seen): URLSearchParams {
  const type = headers['content-type'] ?? ''
  if (!type.startsWith('multipart/')) return new URLSearchParams(body)
  const parts = [...body.matchAll(/name="(\w+)"\r\n\r\n([^\r]*)\r\n/g)]
  return new URLSearchParams(parts.map(([, name = '', value = '']): [string, string] => [name, value]))
}

export function toFileName({ body }: Seen): string | undefined {
  return /filename="([^"]*)"/.exec(body)?.[1]
}

/** Returns "/path name=value file=name". */
export function toLine(seen: Seen): string {
  const fields = [...toFields(seen)].filter(([name]) => !['apikey', 'output'].includes(name))
  const file = toFileName(seen)
  const parts = [...fields.map(([name, value]) => `${name}=${value}`), ...(file ? [`file=${file}`] : [])]
  return `${seen.path} ${parts.join(' ')}`.trim()
}
