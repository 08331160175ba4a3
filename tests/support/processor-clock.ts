/** Starts to count this thread's processor time in milliseconds, independent of the machine's other work. */
export function startProcessorClock(): () => number {
  const before = process.threadCpuUsage()
  return () => {
    const { user, system } = process.threadCpuUsage(before)
    return (user + system) / 1000
  }
}
