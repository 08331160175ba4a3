import { mkdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { startProgram } from '../../support/program.ts'
import { until } from '../../support/until.ts'
import { freePort, INSTALLED } from './scratch.ts'
import { inTrixie } from './trixie.ts'
import type { NewsServer, Post } from './usenet.ts'

const BIN = '/usr/lib/news/bin'
const RUN = 'mkdir -p /run/news && chown news:news /run/news'

/**
 * Starts INN 2.7 of Debian 13, with the group alt.binaries.test. Readers have their own port: innd waits for
 * MODE READER, which SABnzbd does not send.
 */
export async function startInn(): Promise<Omit<NewsServer, 'put'> & { put(post: Post): Promise<void> }> {
  await using opened = new AsyncDisposableStack()
  const folder = join(INSTALLED, 'inn-lab')
  mkdirSync(folder, { recursive: true })
  const asNews = (script: string) => {
    // su is not used: it begins its own session, which would outlive this program's group.
    const news = 'setpriv --reuid=news --regid=news --init-groups'
    const shell = ['-c', `${RUN} && exec ${news} ${script}`]
    return inTrixie('sh').program(shell, folder)
  }
  const start = async (script: string) => {
    const { command, args } = asNews(script)
    return opened.use(await startProgram(command, args))
  }
  const [posting, reading] = [await freePort(), await freePort()]
  await start(`${BIN}/innd -d -P ${posting} -4 127.0.0.1`)
  await until('innd answers', () => greets(posting))
  const group = await start(`${BIN}/ctlinnd newgroup alt.binaries.test y lab`)
  await group.ended
  await start(`${BIN}/nnrpd -D -f -b 127.0.0.1 -p ${reading}`)
  await until('nnrpd answers', () => greets(reading))
  const owned = opened.move()
  return {
    port: reading,
    put: post => send(posting, post),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

function greets(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect(port, '127.0.0.1')
  socket.once('data', () => resolve(true)).once('error', () => resolve(false))
  return promise.finally(() => socket.destroy())
}

/** Posts all articles (RFC 3977). Rejects if one is refused. */
async function send(port: number, { articles }: Post): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]()
  const expectCode = async (code: string) => {
    const { value } = await lines.next()
    if (!String(value).startsWith(code)) throw new Error(`INN said ${String(value)}`)
  }
  const say = (text: string | Buffer) => socket.write(text)
  try {
    await expectCode('200')
    say('MODE READER\r\n')
    await expectCode('200')
    for (const { text } of articles) {
      say('POST\r\n')
      await expectCode('340')
      say(text)
      say('.\r\n')
      await expectCode('240')
    }
    say('QUIT\r\n')
  } finally {
    socket.destroy()
  }
}
