/** Whether `name` fits a pattern in which `*` stands for any run of characters. */
export function matchesGlob(pattern: string, name: string): boolean {
  const source = pattern
    .split('*')
    .map(part => part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'))
    .join('.*')
  return new RegExp(`^${source}$`, 's').test(name)
}

/** Whether a list of globs takes `name`: the last one that fits decides, and `!glob` takes away. */
export function matchesGlobs(patterns: readonly string[], name: string): boolean {
  return patterns.reduce((taken, pattern) => {
    const without = pattern.startsWith('!')
    return matchesGlob(without ? pattern.slice(1) : pattern, name) ? !without : taken
  }, false)
}
