import { ToolFailure } from '../../kit/failure.ts'
import { toByteText } from '../../kit/text.ts'
import type { Picture } from '../message.ts'

const MAX_BYTES = 5 * 1024 * 1024
const MAX_URL = 2000
const KINDS = [
  { mimeType: 'image/png', ending: 'png', begins: /^89504e470d0a1a0a/ },
  { mimeType: 'image/jpeg', ending: 'jpg', begins: /^ffd8ff/ },
  { mimeType: 'image/gif', ending: 'gif', begins: /^47494638/ },
  { mimeType: 'image/webp', ending: 'webp', begins: /^52494646.{8}57454250/ },
] as const

/** Returns the file name of a picture of this type: "image.png". */
export function toPictureName(mimeType: string): string {
  return `image.${KINDS.find(kind => kind.mimeType === mimeType)?.ending ?? 'bin'}`
}

/**
 * Reads a picture argument: an http or https address, which is passed on and not loaded here, or base64 of a
 * PNG, JPEG, GIF or WebP, plain or as a data URL. Its first bytes decide its type. Throws ToolFailure.
 */
export function readPicture(given: string): Picture {
  const text = given.trim()
  if (/^https?:/i.test(text)) return readUrl(text)
  const base64 = text.replace(/^data:[^,]*;base64,/i, '').replace(/\s+/g, '')
  if (base64.length > (MAX_BYTES * 4) / 3 + 4) throw refuse(`it is larger than ${toByteText(MAX_BYTES)}`)
  if (base64 === '' || !/^[\w+/-]+=*$/.test(base64)) throw refuse('it is neither an address nor base64')
  const bytes = Uint8Array.from(Buffer.from(base64, 'base64'))
  const head = Buffer.from(bytes.subarray(0, 16)).toString('hex')
  const kind = KINDS.find(({ begins }) => begins.test(head))
  if (!kind) throw refuse('its bytes are no PNG, JPEG, GIF or WebP')
  return { kind: 'bytes', bytes, mimeType: kind.mimeType, name: `image.${kind.ending}` }
}

function readUrl(text: string): Picture {
  if (!URL.canParse(text) || text.length > MAX_URL) throw refuse('its address is none, or too long')
  const url = new URL(text)
  if (url.username !== '' || url.password !== '')
    throw refuse('its address holds a password, which would go out')
  return { kind: 'url', url: url.href }
}

function refuse(why: string): ToolFailure {
  return new ToolFailure({
    what: 'Nothing was sent: the image cannot be used.',
    where: 'image',
    why,
    fix: `Give base64 of a PNG, JPEG, GIF or WebP of at most ${toByteText(MAX_BYTES)}, an http or https address, or leave it out.`,
  })
}
