/** Names that a line of the terminal's chat may go on with. */
export interface Names {
  agents: readonly string[]
  conversations: readonly string[]
  /** Numbers of the open approvals. */
  approvals: readonly number[]
}

export const CHAT_COMMANDS = [
  '/approve',
  '/deny',
  '/help',
  '/new topic',
  '/open',
  '/quit',
  '/reset',
  '/stop',
] as const

/** Returns what a line may go on with, and the part of it that this replaces, as readline wants them. */
export function complete(line: string, names: Names): [hits: string[], part: string] {
  const part = /\S*$/.exec(line)?.[0] ?? ''
  const before = line.slice(0, line.length - part.length).trim()
  const all = candidates(before, part, names)
  return [all.filter(each => each.startsWith(part)), part]
}

function candidates(before: string, part: string, names: Names): string[] {
  if (before === '' && part.startsWith('/')) return CHAT_COMMANDS.map(each => `${each} `)
  if (before === '/approve' || before === '/deny') return names.approvals.map(each => `${each} `)
  if (before === '/open') return [...names.conversations]
  return part.startsWith('@') ? names.agents.map(each => `@${each} `) : []
}
