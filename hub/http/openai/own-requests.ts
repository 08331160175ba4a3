/**
 * Requests that programs make for themselves, by how their texts begin: Open WebUI's titles, tags, follow-up questions,
 * searches, completions, emojis (backend/open_webui/config.py; a question about a document begins alike and is
 * the person's), LibreChat's and Continue's titles.
 */
const OWN = [
  /^### Task:\s+(?!Respond to the user query)[\s\S]*<chat_history>/,
  /^Your task is to reflect the speaker's likely facial expression through a fitting emoji/,
  /^Analyze this conversation and provide:\s+1\. The detected language/,
  /^Provide a concise, 5-word-or-less title for the conversation/,
  /^Given the following\.{3} please reply with a title for the chat/,
]

/** Begins the system message with which Open WebUI asks a model to choose among tools of its own. */
const CHOOSE_TOOLS = /^Available Tools: [\s\S]*"tool_calls"/

const LONGEST_TITLE = 40

/**
 * Returns an answer to a request that a program makes for itself, in the form that it wants: the agent would
 * take it for a person's message, and remember it. `isTask`: the program says that it is one. Undefined for every
 * other request.
 */
export function answerOwnRequest(system: string, text: string, isTask: boolean): string | undefined {
  if (CHOOSE_TOOLS.test(system)) return JSON.stringify({ tool_calls: [] })
  if (!isTask && !OWN.some(pattern => pattern.test(text))) return undefined
  const title = toTitle(text)
  switch (/\{\s*"(title|tags|follow_ups|queries|text|prompt)"\s*:/.exec(text)?.[1]) {
    case 'title':
      return JSON.stringify({ title })
    case 'tags':
      return JSON.stringify({ tags: ['General'] })
    case 'follow_ups':
      return JSON.stringify({ follow_ups: [] })
    case 'queries':
      return JSON.stringify({ queries: [] })
    case 'text':
      return JSON.stringify({ text: '' })
    case 'prompt':
      return JSON.stringify({ prompt: title })
    default:
      return title
  }
}

/** Makes a title of the first words of the chat that a request quotes. */
function toTitle(text: string): string {
  const said = /^(?:USER|User): *(\S.*)$/m.exec(text)?.[1] ?? text.split('\n\n').slice(1).join(' ')
  const whole = said.replace(/\s+/g, ' ').trim()
  if (whole.length <= LONGEST_TITLE) return whole || 'Chat'
  return `${whole.slice(0, LONGEST_TITLE).replace(/\s\S*$/, '')}…`
}
