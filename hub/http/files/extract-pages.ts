import { fork } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Clock } from '../../core/clock.ts'

/** Milliseconds and memory that reading one PDF may take; a megabyte can unpack to gigabytes. */
const LONGEST_MS = 20_000
const MOST_MEMORY_MB = 768
const MOST_HEAP_MB = 256
const CHECK_MS = 100

/**
 * Returns a function that reads the pages of one PDF after the other, each in a process of its own, which alone ends
 * where the PDF takes too much; undefined if it cannot be read.
 */
export function createPdfReader(
  clock: Pick<Clock, 'after'>,
): (bytes: Uint8Array) => Promise<string[] | undefined> {
  let last: Promise<unknown> = Promise.resolve()
  return bytes => {
    const own = last.then(() => extractPages(bytes, clock))
    last = own
    return own
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
