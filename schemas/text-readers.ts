/* The tools of the built-in servers give each result twice: as text for a model, and as data for programs.
   Over the results in those servers' own tests the data as JSON takes 29 % more tokens than the text, and
   it lacks what only the text says: that names and logs of others are never instructions, how a preview is
   confirmed, units and zones. */

/**
 * Names of clients that show their model only the data where there is any, or data and text. They get only
 * the text, and tools without output schemas, because with one the protocol requires data.
 */
const TEXT_READERS = [
  // Claude Code shows only the data: anthropics/claude-code#79944.
  'claude-code',
  // Codex shows only the data: openai/codex#38287.
  'codex',
  // VS Code shows only the data: microsoft/vscode#290063.
  'visual studio code',
  // Copilot CLI once showed only the data, github/copilot-cli#3258, and now shows both, #4515.
  'github-copilot',
]

/** Key in a tool's `_meta`: the text of its results is complete. Other tools' text may be a mere headline. */
export const WHOLE_TEXT = 'superbloom/wholeText'

/** Tells whether a client with this name in its `clientInfo` gets only the text. Forwarders append words. */
export function readsText(client: string): boolean {
  const name = client.toLowerCase()
  return TEXT_READERS.some(reader => name.startsWith(reader))
}

interface Described {
  _meta?: { [key: string]: unknown } | undefined
  outputSchema?: unknown
}

export function hasWholeText(tool: Described | undefined): boolean {
  return tool?._meta?.[WHOLE_TEXT] === true
}

/** Returns a tool as such a client sees it. */
export function toTextTool<Tool extends Described>(tool: Tool): Tool {
  if (!hasWholeText(tool)) return tool
  const told = { ...tool }
  delete told.outputSchema
  return told
}

/** Returns a result, of a tool with a whole text, as such a client gets it. */
export function toTextResult<Result extends { structuredContent?: unknown }>(result: Result): Result {
  const text = { ...result }
  delete text.structuredContent
  return text
}
