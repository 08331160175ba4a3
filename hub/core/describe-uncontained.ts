/** Returns a line for each reason why servers run without the sandbox that they should have, and what to do. */
export function describeUncontained(servers: readonly { name: string; uncontained?: string | undefined }[]) {
  const byReason = Map.groupBy(servers, ({ uncontained }) => uncontained)
  return [...byReason].flatMap(([why, ones]) => {
    if (why === undefined) return []
    const names = ones.map(({ name }) => name).join(', ')
    return `servers without a sandbox: ${names}, which can read all that the hub can: ${why}. Where you do not trust them, run them in a container and give their url, or as another user; sandbox: off in an entry ends this notice`
  })
}
