/** Declares what the tests use; the package has no types. */
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
