import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import Database from 'better-sqlite3'
import OpenAI from 'openai'

/*
 * A plain program without a hub: the openai package, the conversation in memory, and one insert for each
 * message with the hub's durability. Run as a process, it reads lines "<conversation> <text>" and writes
 * "<conversation>" when the reply is stored.
 */

const [baseURL = '', folder = ''] = process.argv.slice(2)
const client = new OpenAI({ baseURL, apiKey: 'bench' })
const database = new Database(join(folder, 'bare.db'))
database.pragma('journal_mode = WAL')
database.pragma('synchronous = FULL')
database.exec('create table messages (conversation text, role text, text text, at integer)')
const insert = database.prepare('insert into messages values (?, ?, ?, ?)')

type Message = { role: 'system' | 'user' | 'assistant'; content: string }
const histories = new Map<string, Message[]>()

async function turn(conversation: string, text: string): Promise<void> {
  const history = histories.get(conversation) ?? [
    { role: 'system', content: 'You are a helpful homelab agent.' },
  ]
  histories.set(conversation, history)
  history.push({ role: 'user', content: text })
  insert.run(conversation, 'user', text, Date.now())
  const stream = await client.chat.completions.create({
    model: 'bench',
    messages: history,
    stream: true,
    stream_options: { include_usage: true },
  })
  let reply = ''
  for await (const part of stream) reply += part.choices[0]?.delta.content ?? ''
  history.push({ role: 'assistant', content: reply })
  insert.run(conversation, 'agent', reply, Date.now())
}

const input = createInterface({ input: process.stdin })
input.on('line', line => {
  const [conversation = '', ...words] = line.split(' ')
  turn(conversation, words.join(' ')).then(
    () => process.stdout.write(`${conversation}\n`),
    error => {
      process.stderr.write(`${error}\n`)
      process.exit(1)
    },
  )
})
process.stdout.write('ready\n')
await once(input, 'close')
database.close()
