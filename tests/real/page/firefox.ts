import { once } from 'node:events'
import { WebSocket } from 'ws'
import { type Program, startProgram } from '../../support/program.ts'
import { makeTempFolder } from '../../support/temp-store.ts'
import { until, within } from '../../support/until.ts'

/** A page of Debian's Firefox, driven by the WebDriver BiDi that Firefox has built in. */
export interface FirefoxPage extends AsyncDisposable {
  /** Errors and warnings that the page logged. */
  readonly complaints: readonly string[]
  /** Touches the element of this role and name, once it is there. */
  tap(role: string, name: string): Promise<void>
  /** Types into the focused element; "\n" is Enter. */
  type(text: string): Promise<void>
  /** Resolves once the text is in what the page shows. */
  shows(text: string): Promise<void>
  evaluate(expression: string): Promise<unknown>
}

/** A key's name in WebDriver. */
const ENTER = '\ue006'

/** Opens an address in a Firefox of its own, with an empty profile, as wide and high as a phone. */
export async function openFirefox(url: string, viewport: { width: number; height: number }) {
  await using stack = new AsyncDisposableStack()
  const { path } = stack.use(makeTempFolder())
  const args = ['--headless', '--no-remote', '--profile', path, '--remote-debugging-port=0', 'about:blank']
  const firefox = stack.use(await startProgram('firefox-esr', args, { env: { HOME: path } }))
  const bidi = stack.use(await connect(firefox))
  await bidi.send('session.new', { capabilities: {} })
  await bidi.send('session.subscribe', { events: ['log.entryAdded'] })
  const { contexts } = await bidi.send<{ contexts: { context: string }[] }>('browsingContext.getTree')
  const context = contexts[0]?.context
  await bidi.send('browsingContext.setViewport', { context, viewport })
  await bidi.send('browsingContext.navigate', { context, url, wait: 'interactive' })
  const page = createPage(bidi, context)
  const owned = stack.move()
  return { ...page, [Symbol.asyncDispose]: () => owned.disposeAsync() } satisfies FirefoxPage
}

function createPage({ send, complaints }: Bidi, context: string | undefined) {
  const evaluate = async (expression: string) => {
    const target = { context }
    const given = { expression, target, awaitPromise: true }
    const { result } = await send<{ result: { value?: unknown } }>('script.evaluate', given)
    return result.value
  }
  const locate = async (role: string, name: string) => {
    const locator = { type: 'accessibility', value: { role, name } }
    const { nodes } = await send<{ nodes: { sharedId: string }[] }>('browsingContext.locateNodes', {
      context,
      locator,
    })
    return nodes[0]
  }
  const act = (actions: object) => send('input.performActions', { context, actions: [actions] })
  return {
    complaints,
    evaluate,
    async tap(role: string, name: string) {
      const element = await until(`there is a ${role} ${name}`, () => locate(role, name))
      const origin = { type: 'element', element }
      const [move, down, up] = ['pointerMove', 'pointerDown', 'pointerUp']
      const steps = [
        { type: move, x: 0, y: 0, origin },
        { type: down, button: 0 },
        { type: up, button: 0 },
      ]
      await act({ type: 'pointer', id: 'finger', parameters: { pointerType: 'touch' }, actions: steps })
    },
    async type(text: string) {
      const keys = [...text].map(key => (key === '\n' ? ENTER : key))
      const steps = keys.flatMap(value => ['keyDown', 'keyUp'].map(type => ({ type, value })))
      await act({ type: 'key', id: 'keyboard', actions: steps })
    },
    async shows(text: string) {
      const seen = `document.body.innerText.includes(${JSON.stringify(text)})`
      await until(`the page shows ${text}`, async () => (await evaluate(seen)) === true)
    },
  }
}

type Bidi = Awaited<ReturnType<typeof connect>>

interface Answer {
  id?: number
  type: 'success' | 'error' | 'event'
  result?: unknown
  error?: string
  message?: string
  params?: { level?: string; text?: string }
}

/** Connects to a Firefox that starts. Disposing ends Firefox by itself. */
async function connect(firefox: Program) {
  const address = await until(
    'Firefox listens',
    () => /WebDriver BiDi listening on (ws:\S+)/.exec(firefox.stderr)?.[1],
  )
  const socket = new WebSocket(`${address}/session`)
  await once(socket, 'open')
  const waiting = new Map<number, (answer: Answer) => void>()
  const complaints: string[] = []
  socket.on('message', data => {
    const answer = JSON.parse(String(data)) as Answer
    const { level = '', text = '' } = answer.params ?? {}
    if (answer.type === 'event' && ['error', 'warn'].includes(level)) complaints.push(`${level}: ${text}`)
    if (answer.id !== undefined) waiting.get(answer.id)?.(answer)
  })
  let sent = 0
  const send = async <Result = unknown>(method: string, params: object = {}): Promise<Result> => {
    const { promise, resolve } = Promise.withResolvers<Answer>()
    waiting.set(++sent, resolve)
    socket.send(JSON.stringify({ id: sent, method, params }))
    const { type, result, error, message } = await within(`Firefox to do ${method}`, promise)
    if (type === 'error') throw new Error(`${method}: ${error}: ${message}`)
    return result as Result
  }
  return {
    send,
    complaints,
    async [Symbol.asyncDispose]() {
      await send('browser.close')
      await firefox.ended
      socket.terminate()
    },
  }
}
