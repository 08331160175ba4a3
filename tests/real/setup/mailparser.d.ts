/** What the tests use of it; the package comes without types. */
declare module 'mailparser' {
  import type { Readable } from 'node:stream'

  export interface ParsedMail {
    subject?: string
    text?: string
    html: string | false
    messageId?: string
    headers: Map<string, unknown>
    attachments: { filename?: string; contentType: string; content: Buffer }[]
  }
  export function simpleParser(source: Readable): Promise<ParsedMail>
}
