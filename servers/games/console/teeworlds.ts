import { randomUUID } from 'node:crypto'
import { openWire } from '../wire/tcp.ts'
import type { Exchange } from './exchange.ts'
import { wrongPassword } from './refusals.ts'

const MAX_BYTES = 256 * 1024
/** "[2026-11-22 05:00:00][Console]: text", which stands before each line since 0.7; "[5f3c][Console]: " before. */
const STAMP = /^\[[^\]]*\]\[[^\]]*\]: /

/**
 * Teeworlds' external console ("econ"): lines over TCP, a question for the password, and then everything that the server
 * logs. The answer of a command is what is logged until the `echo` that is sent after it.
 */
export async function askTeeworlds({
  host,
  port,
  password,
  command,
  where,
  signal,
}: Exchange): Promise<string> {
  using wire = await openWire(host, port, signal)
  const until = async (text: string, fits: (text: string) => boolean): Promise<string> => {
    let all = text
    while (!fits(all)) {
      if (all.length > MAX_BYTES) throw new Error('it writes without end, and no answer was found in that')
      all += (await wire.read()).toString('utf8')
    }
    return all
  }
  await until('', text => /enter password:/i.test(text))
  wire.write(`${password}\n`)
  const said = await until('', text => /authentication successful|wrong password|too many/i.test(text))
  if (!/authentication successful/i.test(said)) throw wrongPassword(where)
  const mark = `end-${randomUUID()}`
  wire.write(`${command}\necho ${mark}\n`)
  const rest = said.slice(said.search(/authentication successful/i)).replace(/^.*\r?\n?/, '')
  const answer = await until(rest, text => text.includes(mark))
  return answer
    .slice(0, answer.indexOf(mark))
    .split(/\r?\n|\0/)
    .slice(0, -1)
    .map(line => line.replace(STAMP, ''))
    .join('\n')
}
