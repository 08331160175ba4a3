import { fork } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Clock } from '../../core/clock.ts'
import { HubError } from '../../core/errors.ts'

/** Milliseconds and memory that reading one PDF may take; a megabyte can unpack to gigabytes. */
const LONGEST_MS = 20_000
const MOST_MEMORY_MB = 768
const MOST_HEAP_MB = 256
const CHECK_MS = 100

/** PDFs of one author that may wait to be read. */
const MOST_WAITING = 8

/** Reads the pages of a PDF of an author; undefined if it cannot be read. Throws `rate_limited` where too many wait. */
export type ReadPages = (bytes: Uint8Array, author: string) => Promise<string[] | undefined>

/**
 * Creates what reads one PDF after the other, each in a process of its own, which alone ends where the PDF takes too
 * much. Authors take turns, so that nobody waits for all PDFs of somebody else.
 */
export function createPdfReader(clock: Pick<Clock, 'after'>): ReadPages {
  const waiting = new Map<string, (() => Promise<void>)[]>()
  let isReading = false
  const readAll = async () => {
    if (isReading) return
    isReading = true
    for (let first = waiting.entries().next().value; first; first = waiting.entries().next().value) {
      const [author, [read, ...others]] = first
      // Whoever has more to read goes to the end.
      waiting.delete(author)
      if (others.length > 0) waiting.set(author, others)
      await read?.()
    }
    isReading = false
  }
  return (bytes, author) => {
    const own = waiting.get(author) ?? []
    if (own.length >= MOST_WAITING)
      throw new HubError(
        'rate_limited',
        `${MOST_WAITING} PDFs of yours wait to be read: send more after those.`,
      )
    const { promise, resolve } = Promise.withResolvers<string[] | undefined>()
    waiting.set(author, [...own, () => extractPages(bytes, clock).then(resolve)])
    void readAll()
    return promise
  }
}

function extractPages(bytes: Uint8Array, clock: Pick<Clock, 'after'>): Promise<string[] | undefined> {
  const extension = import.meta.filename.endsWith('.ts') ? 'ts' : 'js'
  const child = fork(fileURLToPath(new URL(`./read-pdf.${extension}`, import.meta.url)), {
    execArgv: [`--max-old-space-size=${MOST_HEAP_MB}`],
    env: {},
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const { promise, resolve } = Promise.withResolvers<string[] | undefined>()
  const kill = () => void child.kill('SIGKILL')
  const endTime = clock.after(LONGEST_MS, kill)
  let endCheck: (() => void) | undefined
  const check = async () => {
    if ((await residentMb(child.pid)) > MOST_MEMORY_MB) kill()
    else if (child.exitCode === null && child.signalCode === null) endCheck = clock.after(CHECK_MS, check)
  }
  void check()
  child.once('message', (pages: string[]) => resolve(pages))
  // A PDF that cannot be read ends the process; the person is told so.
  child.on('error', () => resolve(undefined))
  child.once('exit', () => {
    endTime()
    endCheck?.()
    resolve(undefined)
  })
  child.send(bytes, error => error && kill())
  return promise
}

/** Returns the memory of a process; 0 where the system does not tell, so that only heap and time bound it there. */
async function residentMb(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024
}
