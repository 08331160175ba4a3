import type { Story, StoryMessage } from '../../hub/demo/story-model.ts'

type Asked = readonly [text: string, tool: string, args?: Record<string, unknown>]

const server = 'lab-arena'
const download = 'Sintel.1080p'

/** What people ask of their homelab day by day, and the call with which a model answers. None of it destroys. */
export const ORDINARY_REQUESTS: readonly Asked[] = [
  ['Start the arena', 'start_game_server', { server }],
  ['Which game servers are there?', 'list_game_servers'],
  ['How many people play on the arena?', 'get_player_count', { server }],
  ['Is the arena all right?', 'get_game_server', { server }],
  ['What does the log of the arena say?', 'get_game_server_logs', { server }],
  ['Why can nobody join the arena?', 'diagnose_game_server', { server }],
  ['Stop the arena, we are done', 'stop_game_server', { server }],
  ['Start the arena once more', 'start_game_server', { server }],
  ['What is downloading?', 'get_download_status'],
  ['What was downloaded this week?', 'get_download_history'],
  ['Pause the downloads', 'pause_downloads'],
  ['Let the downloads go on', 'resume_downloads'],
  ['Hold Sintel for now', 'pause_download', { download }],
  ['Go on with Sintel', 'resume_download', { download }],
  ['Sintel first', 'set_download_priority', { download, priority: 'high' }],
  ['Download at 2 MB per second at most', 'set_download_speed', { limitMiBps: 2 }],
  ['Download the new Debian', 'add_download', { url: 'http://127.0.0.1:9/debian.nzb' }],
  ['Do we have Arrival?', 'search_media', { query: 'Arrival' }],
  ['Who is watching?', 'get_jellyfin_sessions'],
  ['What is new?', 'get_recently_added'],
  ['Get us Dune', 'request_movie', { title: 'Dune' }],
  ['Get us Severance', 'request_show', { title: 'Severance' }],
  ['What did people wish for?', 'get_requests'],
  ['What comes out this week?', 'get_upcoming'],
  ['Look for what is missing', 'search_missing'],
  ['Scan the library', 'refresh_library'],
  ['Why can I not watch Arrival?', 'diagnose_media', { title: 'Arrival' }],
  ['How is the machine doing?', 'get_system_metrics'],
  ['Which containers run?', 'get_container_status'],
  ['What does the container plex say?', 'get_container_logs', { container: 'plex' }],
  ['What takes the memory?', 'get_processes'],
  ['Are the disks healthy?', 'get_disk_health'],
  ['How much did we upload today?', 'query_prometheus', { query: 'up' }],
  ['Are there alerts?', 'get_alerts'],
  [
    'Tell my phone that dinner is ready',
    'send_notification',
    { channel: 'phone', message: 'Dinner is ready' },
  ],
  ['Where can you reach me?', 'list_notification_channels'],
  ['What did you send me?', 'get_notification_history'],
  ['Never stop the arena on weekends', 'store_context', { key: 'weekends', value: 'never stop the arena' }],
  ['What did I ask you to remember?', 'get_context'],
  ['Report every morning at 8', 'schedule_cron', { cron: '0 8 * * *', reason: 'morning report' }],
  ['Remind me in two hours to call Ada', 'schedule_wake', { delay: '2h', reason: 'call Ada' }],
  ['What have you planned?', 'list_schedules'],
  ['What did we say about the disks?', 'search_history', { query: 'disks' }],
  ['Write to the other conversation that I am late', 'send_message', { to: 'homelab/family', text: 'Late' }],
]

/** Requests that destroy something: a person is asked first. */
export const ASKING_REQUESTS: readonly Asked[] = [
  ['Restart the arena', 'restart_game_server', { server }],
  ['Remove Sintel from the queue', 'remove_download', { download }],
]

/** Returns a story that answers these requests with their calls, and leaves everything else to another story. */
export function withRequests(story: Story): Story {
  return messages => {
    const start = messages.findLastIndex(isBatch)
    const lines = (messages[start]?.content ?? '').split('\n')
    const found = [...ORDINARY_REQUESTS, ...ASKING_REQUESTS].find(([text]) => lines.includes(`> ${text}`))
    if (!found) return story(messages)
    const [, tool, args = {}] = found
    const isCalled = messages.slice(start + 1).some(({ role }) => role === 'tool')
    return { text: 'Done.', calls: isCalled ? [] : [{ name: tool, arguments: args }] }
  }
}

function isBatch({ role, content }: StoryMessage): boolean {
  return role === 'user' && content?.startsWith('[INBOX') === true
}
