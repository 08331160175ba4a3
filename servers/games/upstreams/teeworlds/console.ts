import { randomUUID } from 'node:crypto'
import type { Exchange } from '../exchange.ts'
import { wrongPassword } from '../exchange.ts'
import { openWire } from '../tcp.ts'

const MAX_BYTES = 256 * 1024
/** Prefix of each line: "[05:20:34][Console]: ". */
const STAMP = /^\[[^\]]*\]\[[^\]]*\]: /

/**
 * Sends a command over Teeworlds' external console ("econ"): lines over TCP, a question for the password, and
 * then everything that the server logs. The answer is the log until the `echo` that is sent after the
 * command.
 */
export async function askTeeworlds(exchange: Exchange): Promise<string> {
  const { host, port, password, command, where, signal } = exchange
  using wire = await openWire(host, port, signal)
  const decoder = new TextDecoder()
  const until = async (fits: (text: string) => boolean): Promise<string> => {
    let all = ''
    while (!fits(all)) {
      if (all.length > MAX_BYTES) throw new Error('it writes without end, and no answer was found in that')
      all += decoder.decode(await wire.read(), { stream: true })
    }
    return all
  }
  await until(text => /enter password:/i.test(text))
  wire.write(`${password}\n`)
  const said = await until(text => /authentication successful|wrong password|too many/i.test(text))
  if (!/authentication successful/i.test(said)) throw wrongPassword(where)
  const mark = `end-${randomUUID()}`
  wire.write(`${command}\necho ${mark}\n`)
  const answer = await until(text => text.includes(`: ${mark}`))
  return toAnswer(answer, command, mark)
}

/** Returns the log lines between the command, which is logged itself, and its mark. */
function toAnswer(text: string, command: string, mark: string): string {
  const lines = text.split(/[\r\n\0]+/).filter(line => line !== '')
  const start = lines.findLastIndex(line => line.endsWith(`cmd='${command}'`))
  return lines
    .slice(start + 1)
    .filter(line => !line.includes(mark))
    .map(line => line.replace(STAMP, ''))
    .join('\n')
}
