/** Kind and size of a picture, read from its first bytes. The size is missing where it comes later. */
export interface Picture {
  mimeType: string
  size?: { width: number; height: number } | undefined
}

/** Characters of base64 that are read: a JPEG's size comes after the data of its camera and colours. */
const MOST_READ = 400_000

/** Reads a picture's kind and size; undefined if no model takes it. The stated type is often wrong. */
export function readPicture(base64: string): Picture | undefined {
  const bytes = Buffer.from(base64.slice(0, MOST_READ), 'base64')
  if (bytes.length < 30) return undefined
  if (bytes.readUInt32BE(0) === 0x89504e47) {
    return { mimeType: 'image/png', size: { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) } }
  }
  if (bytes.toString('latin1', 0, 4) === 'GIF8') {
    return { mimeType: 'image/gif', size: { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) } }
  }
  if (bytes.readUInt16BE(0) === 0xffd8) return { mimeType: 'image/jpeg', size: sizeOfJpeg(bytes) }
  const isWebp = bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP'
  return isWebp ? { mimeType: 'image/webp', size: sizeOfWebp(bytes) } : undefined
}

/** Reads the size from the frame's segment, one of the first: SOF0 to SOF15, without DHT, JPG and DAC. */
function sizeOfJpeg(bytes: Buffer): Picture['size'] {
  for (let at = 2; at + 9 <= bytes.length && bytes[at] === 0xff; ) {
    const marker = bytes[at + 1] ?? 0
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame) return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) }
    // A marker may have any number of fill bytes before it.
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2)
  }
  return undefined
}

/** Reads the size by https://developers.google.com/speed/webp/docs/riff_container */
function sizeOfWebp(bytes: Buffer): Picture['size'] {
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21)
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
    }
    case 'VP8X':
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 }
    default:
      return undefined
  }
}
