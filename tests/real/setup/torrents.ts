import { promisify } from 'node:util'

type Create = (
  input: Buffer,
  options: object,
  done: (error: Error | null, torrent: Uint8Array) => void,
) => void

/** Loaded by a name that the compiler does not follow: the package has no types. */
const PACKAGE: string = 'create-torrent'

/** The .torrent of one file, without a tracker. */
export async function makeTorrent(name: string, bytes: Buffer): Promise<Buffer> {
  const { default: createTorrent } = (await import(PACKAGE)) as { default: Create }
  const options = { name, announceList: [], createdBy: 'superbloom', private: false, pieceLength: 65_536 }
  return Buffer.from(await promisify(createTorrent)(bytes, options))
}
