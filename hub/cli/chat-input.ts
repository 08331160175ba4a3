import { type CompleterResult, createInterface, type Interface } from 'node:readline'

export interface ChatInputOptions {
  /** Earlier entries, the newest first. */
  history: readonly string[]
  completer: (line: string) => CompleterResult
  /** Gets what the person sent off with Enter. */
  onEntry: (text: string) => void
  /** Is told that a text of several lines was pasted, which the next Enter sends off. */
  onPasted: (lines: number) => void
  /** Is called at a Ctrl+C while nothing is typed. */
  onInterrupt: () => void
  onClose: () => void
}

/** Switch a terminal's marks around pasted text on and off (xterm's bracketed paste mode). */
const MARK_PASTES = '\u001b[?2004h'
const MARK_NO_PASTES = '\u001b[?2004l'

/** Opens the line that a person types at the terminal. A pasted text is one entry, however many lines it has. */
export function openChatInput(options: ChatInputOptions): Interface & Disposable {
  const { stdin, stdout } = process
  const input = createInterface({
    input: stdin,
    output: stdout,
    prompt: stdout.isTTY ? '> ' : '',
    history: [...options.history],
    removeHistoryDuplicates: true,
    completer: options.completer,
  })
  const pasted: string[] = []
  let isPasting = false
  const onKey = (_text: string | undefined, key: { name?: string } | undefined) => {
    if (key?.name === 'paste-start') isPasting = true
    if (key?.name !== 'paste-end') return
    isPasting = false
    if (pasted.length > 0) options.onPasted(pasted.length + (input.line === '' ? 0 : 1))
  }
  stdin.on('keypress', onKey)
  if (stdout.isTTY) stdout.write(MARK_PASTES)
  input.on('line', line => {
    if (isPasting) pasted.push(line)
    else options.onEntry([...pasted.splice(0), line].join('\n'))
  })
  input.on('SIGINT', () => {
    if (input.line === '' && pasted.length === 0) return options.onInterrupt()
    pasted.length = 0
    for (const name of ['e', 'u']) input.write(null, { ctrl: true, name })
  })
  input.on('close', () => {
    stdin.off('keypress', onKey)
    if (stdout.isTTY) stdout.write(MARK_NO_PASTES)
    options.onClose()
  })
  return Object.assign(input, { [Symbol.dispose]: () => input.close() })
}
