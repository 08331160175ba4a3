import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { until } from './until.ts'

/** A process of this machine, read from /proc (these tests run on Linux). */
export interface Process {
  pid: number
  parent: number
  command: string
}

/** Lists every running process, without zombies: ended processes that were not collected yet. */
function listProcesses(): Process[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .flatMap(name => readProcess(Number(name)) ?? [])
}

function readProcess(pid: number): Process | undefined {
  const stat = readText(`/proc/${pid}/stat`)
  const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (!state || 'ZX'.includes(state)) return undefined
  return {
    pid,
    parent: Number(parent),
    command: readText(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim(),
  }
}

/** Returns an empty text for a process that is gone, or that we may not read. */
function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error) return ''
    throw error
  }
}

export function isRunning(pid: number): boolean {
  return readProcess(pid) !== undefined
}

/** Returns the start of a process in unix milliseconds, to a hundredth of a second. */
export function startedAt(pid: number): number {
  const stat = readText(`/proc/${pid}/stat`)
  const ticks = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19])
  const upSeconds = Number.parseFloat(readText('/proc/uptime'))
  return Date.now() - upSeconds * 1_000 + ticks * 10
}

/** Returns a process's descendants. */
export function childrenOf(pid = process.pid): Process[] {
  const all = listProcesses()
  const below = (parent: number): Process[] =>
    all.filter(one => one.parent === parent).flatMap(one => [one, ...below(one.pid)])
  return below(pid)
}

/**
 * Returns every process whose folder, command or environment contains this text, whoever its parent is now.
 */
export function processesNaming(text: string): Process[] {
  return listProcesses().filter(
    ({ pid, command }) =>
      pid !== process.pid &&
      (command.includes(text) ||
        folderOf(pid).startsWith(text) ||
        readText(`/proc/${pid}/environ`).includes(text)),
  )
}

function folderOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch (error) {
    if (error instanceof Error && 'code' in error) return ''
    throw error
  }
}

/** Waits until no child process is left; rejects with those that do not end by themselves. */
export async function untilNoChildren(): Promise<void> {
  await until('no child process is left', () => childrenOf().length === 0).catch(error => {
    throw new Error(`Left behind: ${JSON.stringify(childrenOf())}`, { cause: error })
  })
}
