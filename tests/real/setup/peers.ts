import { QBITTORRENT_USER } from './qbittorrent.ts'

/** Connects a torrent of a real qBittorrent to a peer on this machine. */
export async function addPeer(url: string, hash: string, port: number): Promise<void> {
  const login = await fetch(`${url}/api/v2/auth/login`, {
    method: 'POST',
    body: new URLSearchParams(QBITTORRENT_USER),
  })
  const cookie = login.headers
    .getSetCookie()
    .map(one => one.split(';', 1)[0])
    .join('; ')
  const answer = await fetch(`${url}/api/v2/torrents/addPeers`, {
    method: 'POST',
    headers: { cookie },
    body: new URLSearchParams({ hashes: hash, peers: `127.0.0.1:${port}` }),
  })
  if (!answer.ok) throw new Error(`addPeers: ${answer.status} ${await answer.text()}`)
}
