/*
 * The tools of the built-in servers give each result twice: as text for a model, and as data for programs. Over the
 * results in those servers' own tests the data as JSON takes 29 % more tokens than the text, and it lacks what only the
 * text says: that names and logs of others are never instructions, how a preview is confirmed, units and zones.
 */

/**
 * How clients name themselves that show their model nothing but the data where there is any, or both. They get the text
 * alone, and the tool without its output schema, for which the protocol would want data.
 */
const TEXT_READERS = [
  // Only the data: anthropics/claude-code#79944.
  'claude-code',
  // Only the data: openai/codex#38287.
  'codex',
  // Only the data: microsoft/vscode#290063.
  'visual studio code',
  // Once only the data, github/copilot-cli#3258, now both, #4515.
  'github-copilot',
]

/** In a tool's `_meta`: its text says all that a model needs. The text of other tools may be a mere headline. */
export const WHOLE_TEXT = 'superbloom/wholeText'

/** Whether a client with this name in its `clientInfo` gets the text alone. Forwarders add words behind the name. */
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

/** A tool as such a client is told of it. */
export function toTextTool<Tool extends Described>(tool: Tool): Tool {
  if (!hasWholeText(tool)) return tool
  const told = { ...tool }
  delete told.outputSchema
  return told
}

/** A result of a tool with a whole text, as such a client gets it. */
export function toTextResult<Result extends { structuredContent?: unknown }>(result: Result): Result {
  const text = { ...result }
  delete text.structuredContent
  return text
}
