import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { describeMachine } from '../support/machine.ts'

/**
 * The benchmarks. Each resolves with its figures by name; a name states the unit, and the aim if there is
 * one.
 */
const benchmarks: Readonly<Record<string, { about: string; load(): Promise<() => Promise<Figures>> }>> = {
  start: {
    about: 'the built hub: time until it is ready, memory and CPU when it is idle',
    load: async () => (await import('./start.ts')).start,
  },
  turn: {
    about: 'from a message to its stored reply, beside a bare loop',
    load: async () => (await import('./turn.ts')).turn,
  },
  inbox: {
    about: 'durable posts per second, beside better-sqlite3 alone',
    load: async () => (await import('./inbox.ts')).inbox,
  },
  wake: {
    about: 'from a post to the first byte at the provider, and how late a schedule fires',
    load: async () => (await import('./wake.ts')).wake,
  },
  idle: {
    about: '1,000 agents and 100,000 sleeping tasks: start, memory, CPU, and a wake',
    load: async () => (await import('./idle.ts')).idle,
  },
  history: {
    about: 'a cycle with 100 and with 100,000 rows of history behind it',
    load: async () => (await import('./history.ts')).history,
  },
  servers: {
    about: 'the five servers: start, memory and CPU while idle, and what a tool adds to its requests',
    load: async () => (await import('./servers.ts')).servers,
  },
  hub: {
    about: 'a call through the hub beside the direct one and other hubs, and a catalogue of 1,500 tools',
    load: async () => (await import('./hub.ts')).hub,
  },
  cache: {
    about: 'the share of a prompt that is byte-equal to the request before, over 200 turns with tools',
    load: async () => (await import('./cache.ts')).cache,
  },
  ways: {
    about: 'the files and functions that a message, a call, an approval and a schedule pass through',
    load: async () => (await import('./ways.ts')).ways,
  },
  load: {
    about: '1,000 chats and 200 MCP clients for ten minutes: what is dropped, and memory',
    load: async () => (await import('./load.ts')).load,
  },
  page: {
    about: 'the page in Chromium: loads on a phone, 10,000 messages, and an hour of 40 tiles',
    load: async () => (await import('./page.ts')).page,
  },
  fleet: {
    about: '200 agents busy at once: throughput and fairness',
    load: async () => (await import('./fleet.ts')).fleet,
  },
}

type Figures = Record<string, number>

function print(figures: Figures): void {
  const width = Math.max(...Object.keys(figures).map(name => name.length))
  for (const [name, value] of Object.entries(figures)) {
    console.log(`${name.padEnd(width)}  ${String(value).padStart(9)}`)
  }
}

const { values, positionals } = parseArgs({ allowPositionals: true, options: { json: { type: 'string' } } })
const [name = ''] = positionals
const benchmark = benchmarks[name]
if (benchmark) {
  const at = new Date().toISOString()
  const machine = describeMachine()
  console.log(`${name}: ${benchmark.about}\n${machine}\n`)
  const figures = await (await benchmark.load())()
  print(figures)
  if (values.json)
    writeFileSync(values.json, `${JSON.stringify({ name, at, machine, figures }, undefined, 2)}\n`)
} else {
  console.log('npm run bench -- NAME [--json FILE]\n')
  for (const [known, { about }] of Object.entries(benchmarks)) console.log(`  ${known.padEnd(8)}${about}`)
  if (name) process.exitCode = 1
}
