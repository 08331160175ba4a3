import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startProcessorClock } from '../../tests/support/processor-clock.ts'
import { makeTempFolder } from '../../tests/support/temp-store.ts'
import { parseAgentFile, readAgentFiles } from './agent-files.ts'

const environment = (name: string) => (name === 'WHERE' ? 'the attic' : undefined)
const parse = (text: string, file = '/agents/homelab.md') =>
  parseAgentFile(file, text, environment, undefined)
const limits = {
  steps: 30,
  minutes: 10,
  tokens: 600_000,
  calls: 100,
  wakesPerDay: 200,
  tokensPerDay: 5_000_000,
  tasks: 5,
}
const defaults = {
  description: '',
  tools: ['*'],
  model: 'default',
  approve: [],
  grants: [],
  events: [],
  schedules: [],
  shared: false,
  limits,
  name: 'homelab',
  conversations: ['homelab'],
}

test('front matter and prompt', () => {
  const text = `---
description: Looks after \${WHERE}
tools: ["get_*", "!get_secret"]
events: [temp_high, { type: disk_high, as: task }, { type: server_empty, match: { server: "atm-*" } }]
schedules: [{ cron: "0 8 * * *", timezone: Europe/Berlin, reason: report }]
approve: ["delete_*"]
grants: [stop_game_server]
limits: { steps: 5, tokensPerDay: 9000 }
idleReset: 90m
conversations: [lab, lab/x]
---

You look after it.
---
Still the prompt.
`
  expect(parse(text)).toEqual({
    name: 'homelab',
    description: 'Looks after the attic',
    tools: ['get_*', '!get_secret'],
    model: 'default',
    approve: ['delete_*'],
    grants: ['stop_game_server'],
    idleReset: 5_400_000,
    shared: false,
    events: [
      'temp_high',
      { type: 'disk_high', as: 'task' },
      { type: 'server_empty', match: { server: 'atm-*' } },
    ],
    schedules: [{ cron: '0 8 * * *', timezone: 'Europe/Berlin', reason: 'report', missed: 'latest' }],
    limits: { ...limits, steps: 5, tokensPerDay: 9000 },
    conversations: ['lab', 'lab/x'],
    prompt: 'You look after it.\n---\nStill the prompt.',
  })
})

test.for([
  ['only a prompt', 'Hello.', {}],
  ['an empty front matter', '---\n---\nHello.', {}],
  ['with line ends of Windows', '---\r\ntools: []\r\n---\r\nHello.\r\n', { tools: [] }],
  ['with a byte order mark', '\uFEFF---\ntools: []\n---\nHello.', { tools: [] }],
  ['after an empty line', '\n\n---\ntools: []\n---\nHello.', { tools: [] }],
  ['with spaces behind the dashes', '---  \ntools: []\n--- \nHello.', { tools: [] }],
  ['with dashes within a text', '---\ndescription: |\n  --- x\n---\nHello.', { description: '--- x\n' }],
] as const)('promise 10: %s', ([, text, expected]) => {
  expect(parse(text)).toEqual({ ...defaults, ...expected, prompt: 'Hello.' })
})

test('a prompt for clients', () => {
  const text = `---
prompt:
  text: "Ask about {topic}."
  arguments: [{ name: topic, required: true }]
---
Hello.`
  expect(parse(text)).toEqual({
    ...defaults,
    prompt: 'Hello.',
    clientPrompt: {
      text: 'Ask about {topic}.',
      arguments: [{ name: 'topic', required: true, values: [] }],
    },
  })
})

test.for([
  ['an unknown key', '---\ndescription: x\ntoolz: []\n---\nHi', ':3: toolz: no such key'],
  [
    'a prompt with an undeclared argument',
    '---\nprompt:\n  text: "a {b}"\n---\nHi',
    ':3: prompt.text: {b} is none',
  ],
  [
    'a prompt whose argument is in no place',
    '---\nprompt:\n  text: a\n  arguments:\n    - name: b\n---\nHi',
    ':5: prompt.arguments.0.name: {b} does not occur',
  ],
  [
    'a prompt whose argument is declared twice',
    '---\nprompt:\n  text: "{b}"\n  arguments:\n    - name: b\n    - name: b\n---\nHi',
    ':6: prompt.arguments.1.name: b is declared twice',
  ],
  ['a wrong value', '---\nlimits:\n  steps: 0\n---\nHi', ':3: limits.steps: expected'],
  ['a key after empty lines', '\n---\n\n\ntoolz: []\n---\nHi', ':5: toolz: no such key'],
  ['no YAML', '---\ntools: [a\n---\nHi', ':2: Flow sequence'],
  ['an unquoted glob', '---\nevents:\n  - *_high\n---\nHi', ':3: '],
  [
    'a wrong cron',
    '---\nschedules:\n  - cron: "8 o\'clock"\n    reason: x\n---\nHi',
    ':3: schedules.0.cron: ',
  ],
  [
    'a cron that never comes',
    '---\nschedules:\n  - { cron: "0 0 31 2 *", reason: x }\n---\nHi',
    'never comes',
  ],
  [
    'an unquoted cron',
    '---\nschedules:\n  - cron: * 8 * * *\n    reason: x\n---\nHi',
    ':3: a text that begins',
  ],
  [
    'a wrong zone',
    '---\nschedules: [{ cron: "0 8 * * *", timezone: Mars, reason: x }]\n---\nHi',
    ':2: schedules.0.timezone: is not an IANA',
  ],
  ['a wrong conversation', '---\nconversations: [Lab]\n---\nHi', ':2: conversations.0: must be <agent>'],
  [
    'a variable that is not set',
    `---\ndescription: \${NOPE}\n---\nHi`,
    ':2: description: the environment has no NOPE',
  ],
  [
    'a wrong policy',
    '---\nschedules: [{ cron: "0 8 * * *", reason: x, missed: none }]\n---\nHi',
    ':2: schedules.0.missed: ',
  ],
  ['a wrong span', '---\nidleReset: soon\n---\nHi', ':2: idleReset: must be a span such as 30m'],
  [
    'a limit on money without prices',
    '---\nlimits:\n  moneyPerDay: 2\n---\nHi',
    ':3: limits.moneyPerDay: money cannot be limited without prices',
  ],
  ['no prompt', '---\ndescription: x\n---\n \n', ': has no prompt'],
  ['a front matter without end', '---\ntools: []\nHi', ':1: the front matter has no end'],
  ['nothing', '', ': has no prompt'],
] as const)('%s is refused with file, line and reason', ([, text, message]) => {
  expect(() => parse(text)).toThrow(expect.objectContaining({ code: 'bad_request' }))
  expect(() => parse(text)).toThrow(`/agents/homelab.md${message.startsWith(':') ? message : ''}`)
  expect(() => parse(text)).toThrow(message)
})

test.for(['Home Lab', 'Homelab', '-x', 'x-', 'ä', 'a'.repeat(65), '.hidden'])(
  'an agent is not called %j',
  name => {
    expect(() => parse('Hi', `/agents/${name}.md`)).toThrow(/the file's name must be lower-case/)
  },
)

test('a folder: every file that is right, in order, and what is wrong with the others', () => {
  using folder = makeTempFolder()
  const write = (name: string, text: string) => writeFileSync(join(folder.path, name), text)
  write('b.md', 'I am b.')
  write('a.md', 'I am a.')
  write('wrong.md', '---\nx: 1\n---\nHi')
  write('README.md', 'not an agent')
  write('.swap.md', 'not an agent')
  write('notes.txt', 'not an agent')
  mkdirSync(join(folder.path, 'folder.md'))
  const { agents, problems } = readAgentFiles(folder.path, environment, undefined)
  expect(agents.map(({ name }) => name)).toEqual(['a', 'b'])
  expect(problems.map(({ file }) => file)).toEqual([
    join(folder.path, 'folder.md'),
    join(folder.path, 'wrong.md'),
  ])
  expect(problems[0]?.message).toMatch(/folder\.md: EISDIR/)
  expect(readAgentFiles(join(folder.path, 'nowhere'), environment, undefined)).toEqual({
    agents: [],
    problems: [],
  })
})

test('front matter of thousands of merge keys is refused before they are resolved', () => {
  const merges = Array.from({ length: 8_000 }, (_, index) => `b${index}: {<<: *a}`).join('\n')
  const used = startProcessorClock()
  expect(() => parse(`---\na: &a {x: 1}\n${merges}\n---\n`)).toThrow(
    /homelab\.md: cannot be read: has 8000 al/,
  )
  expect(used()).toBeLessThan(5_000)
})
