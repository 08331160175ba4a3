/** Returns the text of an agent's file that says whether members and guests talk with the agent; nothing else changes. */
export function withShared(text: string, shared: boolean) {
  const line = `shared: ${shared}`
  const [head = '', opening, body = ''] = /^(---[ \t]*\r?\n)([\s\S]*?)(?=^---)/m.exec(text) ?? []
  if (opening === undefined || !text.startsWith(head)) return `---\n${line}\n---\n\n${text}`
  const said = /^shared[ \t]*:.*(?:\r?\n(?:[ \t]+|- ).*)*/m
  const changed = said.test(body) ? body.replace(said, line) : `${body}${line}\n`
  return `${opening}${changed}${text.slice(head.length)}`
}
