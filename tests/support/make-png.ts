import { crc32, deflateSync } from 'node:zlib'

/** Makes a PNG of one colour, or of noise that does not compress; base64. */
export function makePng(width: number, height: number, isNoisy = false): string {
  const rows = Buffer.alloc((width * 3 + 1) * height)
  for (let at = 0, seed = 1; isNoisy && at < rows.length; at++) {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    rows[at] = at % (width * 3 + 1) === 0 ? 0 : seed >>> 24
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 2], 8)
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  const chunks = [
    toChunk('IHDR', header),
    toChunk('IDAT', deflateSync(rows)),
    toChunk('IEND', Buffer.alloc(0)),
  ]
  return Buffer.concat([signature, ...chunks]).toString('base64')
}

function toChunk(type: string, body: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), body])
  const ends = [body.length, crc32(named)].map(number => {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32BE(number)
    return bytes
  })
  return Buffer.concat([ends[0] ?? Buffer.alloc(0), named, ends[1] ?? Buffer.alloc(0)])
}
