/** Begins to count what this thread takes of a processor, milliseconds: what else runs on the machine does not count. */
export function startProcessorClock(): () => number {
  const before = process.threadCpuUsage()
  return () => {
    const { user, system } = process.threadCpuUsage(before)
    return (user + system) / 1000
  }
}
