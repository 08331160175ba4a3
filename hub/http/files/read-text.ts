import { Worker } from 'node:worker_threads'
import { LONGEST_FILE_TEXT } from '../../../schemas/files.ts'
import { HubError } from '../../core/errors.ts'

/** Milliseconds and memory that reading one PDF may take. */
const LONGEST_MS = 30_000
const MOST_MEMORY_MB = 384

/** Byte order marks, and the encodings that they begin. */
const MARKS = [
  { mark: 'fffe', encoding: 'utf-16le' },
  { mark: 'feff', encoding: 'utf-16be' },
]

/**
 * Returns the text of a file: that of a PDF, or the file itself where it is text in UTF-8, or in UTF-16 with a mark.
 * Throws `bad_request`, which says what to do, where there is none.
 */
export async function readText(bytes: Buffer, name: string): Promise<string> {
  if (bytes.length === 0) throw new HubError('bad_request', `${name} is empty.`)
  const isPdf = bytes.subarray(0, 1_024).includes('%PDF-')
  const text = isPdf ? await readPdf(bytes, name) : decode(bytes, name)
  return text.slice(0, LONGEST_FILE_TEXT)
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

async function readPdf(bytes: Buffer, name: string): Promise<string> {
  const pages = await extractPages(bytes)
  if (pages === undefined)
    throw new HubError(
      'bad_request',
      `${name} cannot be read: it is damaged, locked with a password, or too large.`,
    )
  const text = pages.map((page, index) => `[page ${index + 1}]\n${page.replaceAll('\0', '')}`).join('\n\n')
  if (pages.some(page => page.trim() !== '')) return text
  throw new HubError('bad_request', `${name} holds only pictures, such as scans: send its pages as pictures.`)
}

/** Reads a PDF in a thread of its own, which a hostile one cannot leave; undefined if that fails. */
function extractPages(bytes: Buffer): Promise<string[] | undefined> {
  const extension = import.meta.filename.endsWith('.ts') ? 'ts' : 'js'
  const worker = new Worker(new URL(`./read-pdf.${extension}`, import.meta.url), {
    workerData: new Uint8Array(bytes),
    resourceLimits: { maxOldGenerationSizeMb: MOST_MEMORY_MB },
    stdout: true,
    stderr: true,
  })
  const { promise, resolve } = Promise.withResolvers<string[] | undefined>()
  AbortSignal.timeout(LONGEST_MS).addEventListener('abort', () => void worker.terminate(), { once: true })
  worker.once('message', (pages: string[]) => {
    resolve(pages)
    void worker.terminate()
  })
  // A PDF that cannot be read ends the thread; the person is told so.
  worker.once('error', () => resolve(undefined))
  worker.once('exit', () => resolve(undefined))
  return promise
}
