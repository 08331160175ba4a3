import { createServer, type RequestListener } from 'node:http'
import { join } from 'node:path'

/** Starts a real HTTP server at a socket in `folder`, which answers as `listener` does. */
export async function listenAt(
  folder: string,
  listener: RequestListener,
): Promise<{ path: string } & AsyncDisposable> {
  const path = join(folder, 'engine.sock')
  const server = createServer(listener).listen(path)
  await new Promise(resolve => server.once('listening', resolve))
  return {
    path,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
