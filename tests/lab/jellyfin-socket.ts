import type { Server } from 'node:http'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Contract } from '../support/openapi.ts'

/**
 * Opens the socket at /socket: SessionsStart requests the sessions at once and at every change; the server
 * asks for keep-alives.
 */
export function openSockets(
  server: Server,
  {
    isAllowed,
    sessions,
    contract,
  }: {
    isAllowed(authorization: string | undefined): boolean
    sessions(): unknown[]
    contract: Contract | undefined
  },
) {
  const listening = new Set<WebSocket>()
  const problems: string[] = []
  const sockets = new WebSocketServer({ noServer: true })
  let isOpen = true
  let pushed = 0
  const send = (socket: WebSocket) => {
    const Data = sessions()
    problems.push(...(contract?.answer('GET', '/Sessions', 200, Data) ?? []))
    pushed++
    socket.send(JSON.stringify({ MessageType: 'Sessions', MessageId: crypto.randomUUID(), Data }))
  }
  server.on('upgrade', (request, stream, head) => {
    // Clients may disconnect at any time.
    stream.on('error', () => stream.destroy())
    const path = new URL(request.url ?? '/', 'http://lab').pathname
    if (!isOpen || path !== '/socket' || !isAllowed(request.headers.authorization)) {
      stream.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n')
      return
    }
    sockets.handleUpgrade(request, stream, head, socket => {
      socket.send(JSON.stringify({ MessageType: 'ForceKeepAlive', MessageId: crypto.randomUUID(), Data: 60 }))
      socket.on('close', () => listening.delete(socket))
      socket.on('message', data => {
        const { MessageType } = JSON.parse(String(data)) as { MessageType: string }
        if (MessageType === 'KeepAlive') return socket.send(JSON.stringify({ MessageType: 'KeepAlive' }))
        if (MessageType !== 'SessionsStart')
          return void problems.push(`/socket: no such message ${MessageType}`)
        listening.add(socket)
        send(socket)
      })
    })
  })
  return {
    pushed: () => pushed,
    push() {
      for (const socket of listening) send(socket)
    },
    allow(isAllowed: boolean) {
      isOpen = isAllowed
      if (!isAllowed) for (const socket of sockets.clients) socket.terminate()
    },
    check() {
      if (problems.length > 0) throw new Error(`The contract was broken:\n${problems.join('\n')}`)
    },
  }
}
