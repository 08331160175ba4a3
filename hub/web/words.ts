import type { ListedWhy } from '../../schemas/hub-lists.ts'
import type { Power } from '../../schemas/power.ts'

/** This file maps technical names to the page's words. */

/** "get_system_metrics" becomes "Get system metrics"; "files__read_file" "Read file (files)". */
export function toolWords(tool: string) {
  const cut = tool.indexOf('__')
  const server = cut > 0 ? tool.slice(0, cut) : ''
  const name = (cut > 0 ? tool.slice(cut + 2) : tool).replaceAll(/[_-]+/g, ' ').trim()
  const words = name.charAt(0).toUpperCase() + name.slice(1)
  return server ? `${words} (${server})` : words
}

const CALL_WORDS: Record<string, string> = {
  planned: 'planned',
  started: 'running',
  ok: 'done',
  error: 'failed',
  unknown: 'outcome unknown',
  skipped: 'skipped',
  waiting: 'waits for a yes',
  asked: 'asked a person',
  denied: 'denied',
  expired: 'not answered in time',
}

export function callWords(status: string) {
  return CALL_WORDS[status] ?? status
}

/** Words for the work that an allowance is for, behind "whenever". */
export const WORK_WORDS: Record<Power, string> = {
  person: 'a person asks for it',
  routine: "the house's own routine wants it",
  guest: 'a guest asks for it',
  foreign: 'a text from outside leads to it',
}

/** Words for a door of the hub, behind "through". */
export const DOOR_WORDS: Record<string, string> = {
  mcp: 'this page or a program',
  '/mcp': 'this page or a program',
  '/ws': 'the chat',
  '/v1': 'the OpenAI API',
  discord: 'Discord',
  agent: 'an agent',
  file: 'the file itself',
}

/** The hub names the files that a reason comes from; the page names the places where it is changed. */
const REASONS: readonly [RegExp, string][] = [
  [/tools\.deny of the config lists it/g, 'Settings > Servers says “Not for agents” of it'],
  [/tools\.approve of the config lists it/g, 'Settings > Servers says “Agents ask each time” of it'],
  [/tools\.allow of the config lists it/g, 'Settings > Servers lets it run without asking'],
  [
    /approve in agents\/(\S+)\.md lists it/g,
    'what the agent $1 asks for names it (approve in Settings > Agents)',
  ],
  [
    /grants in agents\/(\S+)\.md names it/g,
    'what the agent $1 may do alone names it (grants in Settings > Agents)',
  ],
  [/; grants in agents\/\S+\.md does not name it/g, '; Settings > Servers could let it run without asking'],
]

/** Returns a reason of the policy with the page's places in it. */
export function reasonWords(reason: string) {
  return REASONS.reduce((words, [said, place]) => words.replace(said, place), reason)
}

const AGENT_WORDS: Record<string, string> = {
  active: 'working',
  sleeping: 'asleep',
  waiting: 'waiting',
  failed: 'failed',
  retired: 'retired',
}

export function agentWords(status: string) {
  return AGENT_WORDS[status] ?? status
}

export const THREAD_WORDS: Record<string, string> = {
  ...AGENT_WORDS,
  complete: 'complete',
  cancelled: 'cancelled',
}

export const CYCLE_WORDS: Record<string, string> = {
  running: 'running',
  done: 'done',
  failed: 'failed',
  stopped: 'stopped',
  dead: 'failed for good',
}

export const EVENT_WORDS: Record<string, string> = {
  pending: 'waits',
  processing: 'worked on',
  handled: 'handled',
  ignored: 'nobody wanted it',
  held: 'held',
}

/** Words for what a row of the audit tells of. */
export const AUDIT_WORDS: Record<string, string> = {
  call: 'Call',
  read: 'Call',
  approval: 'Decision',
  stop: 'Stop',
  reset: 'Fresh start',
  chat: 'Chat',
  allowance: 'Lasting yes',
  pin: "A server's tools",
  config: 'File',
  sign_in: 'Sign-in',
  token: 'Token',
  login: 'Login at a server',
  webhook: 'Webhook',
  event: 'Event',
  start: 'Start of the hub',
  retention: 'Old rows removed',
}

/** Words for why a part of a history ended. */
export const SESSION_WORDS: Record<string, string> = {
  compaction: 'summed up',
  idle: 'summed up after a pause or for a new topic',
  reset: 'before a fresh start',
  ended: 'of a task that ended',
  open: 'still in mind',
}

/** Tones of servers' states: good, warning, bad; other states are neutral. */
const SERVER_TONES: Record<string, string> = { ready: 'good', degraded: 'warn', down: 'bad' }

export function serverTone(state: string) {
  return SERVER_TONES[state] ?? 'neutral'
}

/** Returns a title, else the id's words: "homelab/the-disks" becomes "the disks", and "homelab" stays. */
export function conversationTitle({ id, title }: { id: string; title?: string | undefined }) {
  if (title !== undefined) return title
  if (isUnnamed(id)) return 'New conversation'
  const cut = id.indexOf('/')
  return cut < 0 ? id : id.slice(cut + 1).replaceAll('-', ' ')
}

/** Tells whether a conversation was begun without a name: the hub makes a title of its first message. */
export function isUnnamed(id: string) {
  return /[/.]t-[a-z0-9]{8}$/.test(id)
}

/** Makes an id for a new conversation. Those of a member or a guest begin with the person's name. */
export function newConversationId(agent: string, person: string | null, random: () => number) {
  const digits = [...Array(8)].map(() => Math.floor(random() * 36).toString(36)).join('')
  return `${agent}/${person === null ? '' : `${person}.`}t-${digits}`
}

/** Says what a cycle used: "2 steps of gpt-5: 1,200 tokens in (200 cached), 40 out, 0.0012 USD, 3.2 s". */
export function costWords({ steps }: Pick<ListedWhy, 'steps'>) {
  const asked = steps.filter(one => one.tokens !== undefined)
  if (asked.length === 0) return 'What it used was not recorded.'
  const sum = (of: (step: (typeof asked)[number]) => number | undefined) =>
    asked.reduce((total, step) => total + (of(step) ?? 0), 0)
  const number = (value: number) => value.toLocaleString('en', { maximumSignificantDigits: 3 })
  const models = [...new Set(asked.map(one => one.model))].join(', ')
  const cached = sum(one => one.tokens?.cached)
  const currency = asked.find(one => one.currency !== undefined)?.currency
  return [
    `${asked.length === 1 ? '1 step' : `${asked.length} steps`} of ${models}: ${sum(one => one.tokens?.input).toLocaleString('en')} tokens in${cached > 0 ? ` (${cached.toLocaleString('en')} cached)` : ''}`,
    `${sum(one => one.tokens?.output).toLocaleString('en')} out`,
    currency === undefined ? 'price unknown' : `${number(sum(one => one.cost))} ${currency}`,
    `${number(sum(one => one.ms) / 1_000)} s`,
  ].join(', ')
}
