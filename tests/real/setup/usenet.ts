import { createServer, type Socket } from 'node:net'
import { crc32 } from 'node:zlib'

const LINE = 128

export interface Article {
  id: string
  /** Headers and body with CRLF line ends, without the final dot. */
  text: Buffer
}

/** A file as articles of a newsgroup, and the NZB that lists them. */
export interface Post {
  nzb: string
  articles: Article[]
}

/**
 * Splits the bytes into yEnc articles (yenc.org/yenc-draft.1.3.txt). `stem` must differ from that of other
 * posts.
 */
export function toPost(name: string, bytes: Buffer, stem: string, part = 500_000): Post {
  const count = Math.ceil(bytes.length / part)
  const articles = Array.from({ length: count }, (_, index): Article => {
    const piece = bytes.subarray(index * part, (index + 1) * part)
    const id = `${stem}-${index + 1}@lab.example.org`
    const head = [
      'From: lab <lab@lab.example.org>',
      'Newsgroups: alt.binaries.test',
      `Subject: [1/1] "${name}" yEnc (${index + 1}/${count})`,
      `Message-ID: <${id}>`,
      '',
      `=ybegin part=${index + 1} total=${count} line=${LINE} size=${bytes.length} name=${name}`,
      `=ypart begin=${index * part + 1} end=${index * part + piece.length}`,
      '',
    ].join('\r\n')
    const crc = crc32(piece).toString(16).padStart(8, '0')
    const tail = `=yend size=${piece.length} part=${index + 1} pcrc32=${crc}\r\n`
    return { id, text: Buffer.concat([Buffer.from(head), encode(piece), Buffer.from(tail)]) }
  })
  const segments = articles.map(
    ({ id, text }, index) => `<segment bytes="${text.length}" number="${index + 1}">${id}</segment>`,
  )
  const nzb = `<?xml version="1.0" encoding="UTF-8"?>
<nzb xmlns="http://www.newzbin.com/DTD/2003/nzb">
<file poster="lab@lab.example.org" date="${Math.floor(Date.now() / 1000) - 3600}" subject="[1/1] &quot;${name}&quot; yEnc (1/${count})">
<groups><group>alt.binaries.test</group></groups>
<segments>
${segments.join('\n')}
</segments></file></nzb>
`
  return { nzb, articles }
}

function encode(bytes: Uint8Array): Buffer {
  const out: number[] = []
  let column = 0
  for (const byte of bytes) {
    const code = (byte + 42) & 255
    const isSpecial = code === 0 || code === 10 || code === 13 || code === 61 || (code === 46 && column === 0)
    out.push(...(isSpecial ? [61, (code + 64) & 255] : [code]))
    column += isSpecial ? 2 : 1
    if (column >= LINE) {
      out.push(13, 10)
      column = 0
    }
  }
  if (column > 0) out.push(13, 10)
  return Buffer.from(out)
}

/** A news server with only the posted articles: enough of RFC 3977 for a download client. */
export interface NewsServer extends AsyncDisposable {
  readonly port: number
  put(post: Post): void
}

export async function startNewsServer(): Promise<NewsServer> {
  const articles = new Map<string, Buffer>()
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy())
    socket.write('200 lab news\r\n')
    let rest = ''
    socket.setEncoding('latin1').on('data', chunk => {
      const lines = `${rest}${chunk}`.split('\r\n')
      rest = lines.pop() ?? ''
      for (const line of lines) answer(socket, line, articles)
    })
  })
  const listening = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', () => listening.resolve())
  await listening.promise
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The news server has no port')
  return {
    port: address.port,
    put: post => {
      for (const { id, text } of post.articles) articles.set(`<${id}>`, text)
    },
    async [Symbol.asyncDispose]() {
      const closed = Promise.withResolvers<void>()
      server.close(() => closed.resolve())
      for (const socket of sockets) socket.destroy()
      await closed.promise
    },
  }
}

function answer(socket: Socket, line: string, articles: ReadonlyMap<string, Buffer>): void {
  const [command = '', id = ''] = line.split(' ')
  const text = articles.get(id)
  switch (command.toUpperCase()) {
    case 'ARTICLE':
    case 'BODY': {
      if (text === undefined) return void socket.write('430 No such article\r\n')
      const isBody = command.toUpperCase() === 'BODY'
      socket.write(`${isBody ? 222 : 220} 0 ${id}\r\n`)
      socket.write(isBody ? text.subarray(text.indexOf('\r\n\r\n') + 4) : text)
      return void socket.write('.\r\n')
    }
    case 'STAT':
      return void socket.write(text === undefined ? '430 No such article\r\n' : `223 0 ${id}\r\n`)
    case 'QUIT':
      return void socket.end('205 bye\r\n')
    case 'MODE':
      return void socket.write('200 reader\r\n')
    case 'GROUP':
      return void socket.write('211 1 1 1 alt.binaries.test\r\n')
    default:
      return void socket.write('500 what?\r\n')
  }
}
