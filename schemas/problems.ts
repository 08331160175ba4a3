import type { z } from 'zod'

/** A problem of a value, and its path in the value. */
interface Problem {
  path: readonly PropertyKey[]
  problem: string
}

/** Returns the problems of one issue, in words for people. */
export function toProblems(issue: z.core.$ZodIssue): Problem[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map(key => ({ path: [...issue.path, key], problem: 'no such key' }))
  }
  if (issue.code === 'invalid_union') {
    const deepest = issue.errors.flat().sort((a, b) => b.path.length - a.path.length)[0]
    if (deepest) return toProblems({ ...deepest, path: [...issue.path, ...deepest.path] })
  }
  if (issue.code === 'invalid_key') {
    const [why] = issue.issues
    if (why) return toProblems({ ...why, path: issue.path })
  }
  return [{ path: issue.path, problem: wordsOf(issue.message) }]
}

/** Describes all problems in one line; `whole` names the value itself where a problem has no path. */
export function describeProblems(error: z.ZodError, whole: string): string {
  const problems = error.issues.flatMap(toProblems)
  return problems.map(({ path, problem }) => `${path.join('.') || whole}: ${problem}`).join('; ')
}

/** Rewords Zod's messages, which mention facts that only Zod's users know, such as "received undefined". */
export function wordsOf(message: string): string {
  return message
    .replace(/^(?:Invalid (?:input|option|string)|Too (?:small|big)): /, '')
    .replace(/^Invalid discriminator value\. E/, 'e')
    .replace(/^(expected .*), received undefined$/, 'is missing ($1)')
}
