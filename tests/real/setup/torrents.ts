import { promisify } from 'node:util'
import createTorrent from 'create-torrent'

/** Makes the .torrent of one file, without a tracker. */
export async function makeTorrent(name: string, bytes: Buffer): Promise<Buffer> {
  const options = { name, announceList: [], createdBy: 'superbloom', private: false, pieceLength: 65_536 }
  return Buffer.from(await promisify(createTorrent)(bytes, options))
}
