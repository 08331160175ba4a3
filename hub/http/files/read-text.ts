import { LARGEST_FILE } from '../../../schemas/files.ts'
import { HubError } from '../../core/errors.ts'
import type { ReadPages } from './extract-pages.ts'

type ReadOwnPages = (bytes: Uint8Array) => ReturnType<ReadPages>

/** Byte order marks, and the encodings that they begin. */
const MARKS = [
  { mark: 'fffe', encoding: 'utf-16le' },
  { mark: 'feff', encoding: 'utf-16be' },
]

/**
 * Returns the text of a file: that of a PDF, or the file itself where it is text in UTF-8, or in UTF-16 with a mark.
 * Throws `bad_request` where there is none and `too_large` where it is too long, which say what to do.
 */
export async function readText(bytes: Buffer, name: string, readPages: ReadOwnPages): Promise<string> {
  if (bytes.length === 0) throw new HubError('bad_request', `${name} is empty.`)
  const isPdf = bytes.subarray(0, 1_024).includes('%PDF-')
  const text = isPdf ? await readPdf(bytes, name, readPages) : decode(bytes, name)
  // A text file has no more characters than bytes; a PDF unpacks.
  if (text.length <= LARGEST_FILE) return text
  const most = LARGEST_FILE.toLocaleString('en')
  throw new HubError('too_large', `${name} has more than ${most} characters of text: send it in parts.`)
}

function decode(bytes: Buffer, name: string): string {
  const mark = bytes.toString('hex', 0, 2)
  const { encoding = 'utf-8' } = MARKS.find(one => one.mark === mark) ?? {}
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes)
    if (!text.includes('\0')) return text
  } catch (error) {
    throw new HubError('bad_request', toNoText(name), { cause: error })
  }
  throw new HubError('bad_request', toNoText(name))
}

function toNoText(name: string): string {
  return `${name} holds no text that agents can read. Text (UTF-8), PDFs and pictures can be sent; convert it to one of them.`
}

async function readPdf(bytes: Buffer, name: string, readPages: ReadOwnPages): Promise<string> {
  const pages = await readPages(bytes)
  if (pages === undefined)
    throw new HubError(
      'bad_request',
      `${name} cannot be read: it is damaged, locked with a password, or too large.`,
    )
  const text = pages.map((page, index) => `[page ${index + 1}]\n${page.replaceAll('\0', '')}`).join('\n\n')
  if (pages.some(page => page.trim() !== '')) return text
  throw new HubError('bad_request', `${name} holds only pictures, such as scans: send its pages as pictures.`)
}
