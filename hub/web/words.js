/** This file maps technical names to the page's words. */

/**
 * "get_system_metrics" becomes "Get system metrics"; "files__read_file" "Read file (files)".
 * @param {string} tool
 */
export function toolWords(tool) {
  const cut = tool.indexOf('__')
  const server = cut > 0 ? tool.slice(0, cut) : ''
  const name = (cut > 0 ? tool.slice(cut + 2) : tool).replaceAll(/[_-]+/g, ' ').trim()
  const words = name.charAt(0).toUpperCase() + name.slice(1)
  return server ? `${words} (${server})` : words
}

/** @type {Record<string, string>} */
const CALL_WORDS = {
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

/** @param {string} status */
export function callWords(status) {
  return CALL_WORDS[status] ?? status
}

/** @type {Record<string, string>} */
const AGENT_WORDS = {
  active: 'working',
  sleeping: 'asleep',
  waiting: 'waiting',
  failed: 'failed',
  retired: 'retired',
}

/** @param {string} status */
export function agentWords(status) {
  return AGENT_WORDS[status] ?? status
}

/** @type {Record<string, string>} */
export const THREAD_WORDS = { ...AGENT_WORDS, complete: 'complete', cancelled: 'cancelled' }

/** @type {Record<string, string>} */
export const CYCLE_WORDS = {
  running: 'running',
  done: 'done',
  failed: 'failed',
  stopped: 'stopped',
  dead: 'failed for good',
}

/** @type {Record<string, string>} */
export const EVENT_WORDS = {
  pending: 'waits',
  processing: 'worked on',
  handled: 'handled',
  ignored: 'nobody wanted it',
  held: 'held',
}

/** Words for why a part of a history ended. @type {Record<string, string>} */
export const SESSION_WORDS = {
  compaction: 'summed up',
  idle: 'summed up after a pause',
  reset: 'before a fresh start',
  ended: 'of a task that ended',
  open: 'still in mind',
}

/** Tones of servers' states: good, warning, bad; other states are neutral. @type {Record<string, string>} */
const SERVER_TONES = { ready: 'good', degraded: 'warn', down: 'bad' }

/** @param {string} state */
export function serverTone(state) {
  return SERVER_TONES[state] ?? 'neutral'
}

/** Makes words the second half of a conversation's id; '' where none are usable. @param {string} text */
export function toSlug(text) {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[\u0300-\u036f]/g, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replaceAll(/^-+|-+$/g, '')
}

/** "homelab/the-disks" becomes "the disks"; the default one keeps its agent's name. @param {string} id */
export function conversationTitle(id) {
  const cut = id.indexOf('/')
  return cut < 0 ? id : id.slice(cut + 1).replaceAll('-', ' ')
}
