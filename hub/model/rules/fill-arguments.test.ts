import { describe, expect, it } from 'vitest'
import type { ModelTool } from '../../core/model.ts'
import { readCatalogue } from './catalogue.ts'
import { fillArguments } from './fill-arguments.ts'
import { clearBest, matchTools } from './match-tools.ts'
import sample from './testing/sample-catalogue.json' with { type: 'json' }

const { tools } = readCatalogue({ tools: sample.servers as ModelTool[], messages: [] })

function fill(sentence: string) {
  const match = clearBest(matchTools(sentence, tools))
  if (!match) return undefined
  const filled = fillArguments(sentence, match.tool, match.used)
  return { tool: match.tool.name, values: filled.arguments, missing: filled.missing.map(field => field.name) }
}

describe('arguments of a sentence', () => {
  it.each<[string, string, Record<string, unknown>]>([
    ['how is this machine doing?', 'get_system_metrics', {}],
    ['top 5 processes by memory', 'get_processes', { sort: 'memory', limit: 5 }],
    ['get_processes sort=memory limit=3', 'get_processes', { sort: 'memory', limit: 3 }],
    ['get processes sort: memory, limit: 3', 'get_processes', { sort: 'memory', limit: 3 }],
    ['what is eating my cpu', 'get_processes', { sort: 'cpu' }],
    ['show me the 7 processes with most ram', 'get_processes', { sort: 'memory', limit: 7 }],
    ['SMART status of /dev/sda', 'get_disk_health', {}],
    ['status of container jellyfin', 'get_container_status', { name: 'jellyfin' }],
    ['are my containers healthy', 'get_container_status', {}],
    [
      'show the last 20 lines of the log of container jellyfin',
      'get_container_logs',
      { name: 'jellyfin', lines: 20 },
    ],
    ['stop game server valhiem', 'stop_game_server', { server: 'valheim' }],
    ['start the game server atm10', 'start_game_server', { server: 'atm-10' }],
    ['who is playing on ATM 10', 'get_player_count', { server: 'atm-10' }],
    ['valheim logs 30 lines', 'get_game_server_logs', { server: 'valheim', lines: 30 }],
    ['run the command "say hi" on valheim', 'run_game_command', { server: 'valheim', command: 'say hi' }],
    [
      'run game command say hello world on valheim',
      'run_game_command',
      { server: 'valheim', command: 'say hello world' },
    ],
    ['set the download speed to 500 kbps', 'set_download_speed', { limitKbps: 500 }],
    [
      'add download https://example.org/x.torrent?a=1.',
      'add_download',
      { url: 'https://example.org/x.torrent?a=1' },
    ],
    ['remove download abc123 and delete files', 'remove_download', { id: 'abc123', deleteFiles: true }],
    ['remove download abc123 without delete files', 'remove_download', { id: 'abc123', deleteFiles: false }],
    ['search for the matrix in my movies', 'search_media', { query: 'matrix', type: 'movie' }],
    ['search media dune', 'search_media', { query: 'dune' }],
    ['request movie "Blade Runner"', 'request_movie', { title: 'Blade Runner' }],
    [
      'send a notification to my phone: dinner is ready',
      'send_notification',
      { channel: 'phone', message: 'dinner is ready' },
    ],
    [
      'send notification channel=email message="all good"',
      'send_notification',
      { channel: 'email', message: 'all good' },
    ],
    ['read the file /etc/hostname', 'files__read_text_file', { path: '/etc/hostname' }],
    ['what is in /srv/notes.txt?', 'files__read_text_file', { path: '/srv/notes.txt' }],
    ['search files *.iso in /srv', 'files__search_files', { path: '/srv', pattern: '*.iso' }],
    ['move file /a/b.txt to /c/d.txt', 'files__move_file', { source: '/a/b.txt', destination: '/c/d.txt' }],
    [
      'read multiple files /a/b.txt and /a/c.txt',
      'files__read_multiple_files',
      { paths: ['/a/b.txt', '/a/c.txt'] },
    ],
    ['memory search nodes valheim', 'memory__search_nodes', { query: 'valheim' }],
    ['query prometheus up{job="node"}', 'query_prometheus', { query: 'up{job="node"}' }],
  ])('%s → %s %o', (sentence, tool, values) => {
    expect(fill(sentence)).toEqual({ tool, values, missing: [] })
  })

  it.each<[string, string, string[]]>([
    ['start the game server', 'start_game_server', ['server']],
    ['start game server terraria', 'start_game_server', ['server']],
    ['set download speed to 5 MB/s', 'set_download_speed', ['limitKbps']],
    ['read the file', 'files__read_text_file', ['path']],
    ['send a notification', 'send_notification', ['channel', 'message']],
  ])('%s → %s lacks %o', (sentence, tool, missing) => {
    expect(fill(sentence)).toMatchObject({ tool, missing })
  })

  it('takes the defaults of required arguments and the only choice', () => {
    const inputSchema = {
      properties: {
        mode: { type: 'string', default: 'fast' },
        kind: { const: 'all' },
        on: { type: ['boolean', 'null'] },
      },
      required: ['mode', 'kind'],
    }
    const [tool] = readCatalogue({
      tools: [{ name: 'scan', description: '', inputSchema }],
      messages: [],
    }).tools
    if (!tool) throw new Error('no tool')
    expect(fillArguments('scan', tool, new Set(['scan']))).toEqual({
      arguments: { mode: 'fast', kind: 'all' },
      missing: [],
    })
  })

  it('survives schemas that say nothing, or strange things', () => {
    const schemas = [
      {},
      { properties: 5 },
      { properties: { __proto__: 1, a: null, b: { enum: [{}] } }, required: 7 },
      { type: 'array' },
    ]
    for (const inputSchema of schemas) {
      const [tool] = readCatalogue({
        tools: [{ name: 'odd', description: '', inputSchema }],
        messages: [],
      }).tools
      if (tool) expect(fillArguments('odd a=1 b=2', tool, new Set()).missing).toEqual([])
    }
  })
})

it('an optional text takes no word that tells which tool is meant', () => {
  const host = { type: 'string', description: 'which machine; default this one' }
  const metrics = {
    name: 'get_system_metrics',
    description: 'How a machine is doing now, for any question about its health or load',
    inputSchema: { type: 'object', properties: { host } },
    readOnly: true,
  }
  const own = readCatalogue({ tools: [metrics] as ModelTool[], messages: [] }).tools
  const hostOf = (sentence: string) => {
    const match = clearBest(matchTools(sentence, own))
    return match && fillArguments(sentence, match.tool, match.used).arguments
  }
  expect(hostOf('how is this machine doing?')).toEqual({})
  expect(hostOf('is this machine healthy')).toEqual({})
  expect(hostOf('how is host attic doing')).toEqual({ host: 'attic' })
})
