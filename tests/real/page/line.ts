import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A network between a browser and a hub that a test can break. */
export interface Line extends AsyncDisposable {
  /** The hub's address through this line. */
  readonly url: string
  /**
   * Breaks every connection. New ones hang as without reception (`hold`) or fail at once (`refuse`) until
   * `mend`.
   */
  cut(then: 'hold' | 'refuse'): void
  /** Drops everything that the hub sends, but still delivers to the hub. Lasts as long as the connections. */
  deafen(): void
  mend(): void
}

interface Pair {
  near: Socket
  far?: Socket
}

/** Opens a line to the hub's current address at the time of each connection. */
export async function openLine(hub: { readonly url: string }): Promise<Line> {
  let mode: 'open' | 'hold' | 'refuse' = 'open'
  const pairs = new Set<Pair>()

  const server = createServer(near => {
    const pair: Pair = { near }
    pairs.add(pair)
    near.on('error', () => near.destroy())
    near.on('close', () => {
      pairs.delete(pair)
      pair.far?.destroy()
    })
    if (mode === 'refuse') near.resetAndDestroy()
    if (mode === 'open') join(pair)
  })

  function join(pair: Pair): void {
    const { hostname, port } = new URL(hub.url)
    const far = connect(Number(port), hostname)
    pair.far = far
    far.on('error', () => far.destroy())
    far.on('close', () => pair.near.destroy())
    pair.near.pipe(far).pipe(pair.near)
  }

  function breakAll(): void {
    for (const { near } of pairs) near.resetAndDestroy()
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut(then) {
      mode = then
      breakAll()
    },
    deafen() {
      for (const { near, far } of pairs) far?.unpipe(near)
    },
    mend() {
      mode = 'open'
      for (const pair of pairs) if (!pair.far) join(pair)
    },
    async [Symbol.asyncDispose]() {
      breakAll()
      server.close()
      await once(server, 'close')
    },
  }
}
