const NAMED: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&nbsp;': ' ',
}
const ESCAPED: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Replaces the commonest HTML entities by their characters. */
export function fromEntities(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|#39|nbsp);/g, entity => NAMED[entity] ?? entity)
}

/** Escapes text for HTML, between tags and between quotation marks. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, letter => ESCAPED[letter] ?? letter)
}
