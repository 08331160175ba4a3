import { arch, cpus, release, totalmem, type } from 'node:os'

/** Describes this machine's processor, memory, system and Node in one line. */
export function describeMachine(): string {
  const [processor] = cpus()
  const gib = Math.round(totalmem() / 2 ** 30)
  return `${cpus().length} × ${processor?.model}, ${gib} GiB, ${type()} ${release()} ${arch()}, Node ${process.version}`
}
