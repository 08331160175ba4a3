import { parse, toPlainTable } from './markdown.ts'

/** Each part is bounded and begins with what the one before cannot hold, so that no text takes long. */
const PICTURE = /!\[([^\]]{0,500})\]\(([^)\s]{1,2000})(?:\s[^)]{0,500})?\)/g

/** Markdown in what Discord shows of it: tables become code, deep headings bold, pictures links. */
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
