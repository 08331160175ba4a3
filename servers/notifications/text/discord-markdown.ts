import { parse, toPlainTable } from './markdown.ts'

/**
 * Matches a picture. Each part has a limit and starts with a character that the part before cannot match, so
 * that no text takes long.
 */
const PICTURE = /!\[([^\]]{0,500})\]\(([^)\s]{1,2000})(?:\s[^)]{0,500})?\)/g

/**
 * Converts Markdown to the subset that Discord shows: tables become code, deep headings bold, pictures links.
 */
export async function toDiscordMarkdown(markdown: string): Promise<string> {
  const blocks = (await parse(markdown)).map(token => {
    switch (token.type) {
      case 'table':
        return `\`\`\`\n${toPlainTable(token)}\n\`\`\``
      case 'heading':
        return token.depth > 3 ? `**${token.text}**` : token.raw
      case 'hr':
        return '———'
      case 'paragraph':
      case 'list':
      case 'blockquote':
        return token.raw.replace(PICTURE, toLink)
      default:
        return token.raw
    }
  })
  return blocks.join('').trim()
}

function toLink(_all: string, text: string, href: string): string {
  return text === '' ? href : `[${text}](${href})`
}
