import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ModelTool } from '../hub/core/model.ts'
import { createCommandsModel } from '../hub/model/commands/commands-model.ts'
import { listBuiltInTools } from './support/built-in-tools.ts'
import { makeTempFolder } from './support/temp-store.ts'

/*
 * Requests of people without a language model, with the tools that the built-in servers list. Nothing changes
 * without an approval, and no reply claims an action that did not happen.
 */

const NOW = Date.parse('2026-11-21T22:40:00Z') // Sat 23:40 in Berlin
const folder = makeTempFolder()
let tools: ModelTool[]
beforeAll(async () => {
  tools = await listBuiltInTools(folder.path)
}, 60_000)
afterAll(() => folder[Symbol.dispose]())

const FOUND = {
  servers: [{ baseUrl: 'http://127.0.0.1:11434/v1', server: 'ollama' as const, models: ['qwen3:8b'] }],
  keys: ['ANTHROPIC_API_KEY'],
}

interface Answer {
  /** Calls that run at once, and calls that wait for an approval, as "name {json}". */
  runs: string[]
  asks: string[]
  text: string
}

async function answer(text: string): Promise<Answer> {
  const item = {
    kind: 'message' as const,
    origin: 'Message from alex in the conversation homelab',
    text,
    at: NOW,
  }
  const { signal } = new AbortController()
  const reply = await createCommandsModel(async () => FOUND).complete(
    {
      system: '',
      messages: [{ role: 'user', text: '[INBOX - 1 event]', items: [item] }],
      tools,
      maxOutput: 4096,
      timezone: 'Europe/Berlin',
      now: NOW,
    },
    { signal, onText: () => undefined },
  )
  const shown = (waits: boolean) =>
    reply.calls.filter(({ ask }) => (ask === true) === waits).map(call => `${call.name} ${call.arguments}`)
  return { runs: shown(false), asks: shown(true), text: reply.text }
}

const METRICS = 'get_system_metrics {}'
const QUAKE = '{"server":"quake"}'
const wake = (at: string, reason: string) => `schedule_wake ${JSON.stringify({ at, reason })}`
const cron = (expression: string, reason: string) =>
  `schedule_cron ${JSON.stringify({ cron: expression, reason })}`
const waits = (type: string) => `"wake_on_events":["${type}"]`

/** Requests with the expected call, offer (after "asks") or answer; `no` if there is no useful reply. */
const ENGLISH: readonly [request: string, useful: string | RegExp | 'no'][] = [
  ['how is this machine doing?', METRICS],
  ['How hot is the CPU?', METRICS],
  ['are my disks ok?', 'get_disk_health {}'],
  ["what's eating my cpu", 'get_processes {"sort":"cpu"}'],
  ['what uses the most memory?', 'get_processes {"sort":"memory"}'],
  ['which game servers are running?', 'list_game_servers {}'],
  ['is anyone playing on quake', `get_player_count ${QUAKE}`],
  ['why is atm-10 so laggy', 'diagnose_game_server {"server":"atm-10"}'],
  ['show me the logs of the nginx container', 'get_container_logs {"container":"nginx"}'],
  ['what is downloading right now?', 'get_download_status {"state":"downloading"}'],
  ['who is watching jellyfin', 'get_jellyfin_sessions {}'],
  ["what's new in the library?", 'get_recently_added {}'],
  ['search for dune', 'search_media {"query":"dune"}'],
  ['are there any alerts?', 'get_alerts {}'],
  ['please stop the quake server', `asks stop_game_server ${QUAKE}`],
  ['restart quake', `asks restart_game_server ${QUAKE}`],
  ['can you pause all downloads', 'asks pause_downloads {}'],
  ['pause downloads for 2 hours', 'asks pause_downloads {"minutes":120}'],
  ['pause downloads in 2 hours', /later or on a condition\. Nothing was changed/],
  ['stop quake without warning', /Nothing was changed/],
  ['pause downloads for 2 hours and then stop quake', /Nothing was changed/],
  ['request the movie Dune', 'asks request_movie {"title":"Dune"}'],
  [
    'send a notification to phone: disk is full',
    'asks send_notification {"channel":"phone","message":"disk is full"}',
  ],
  ['stop the game server if nobody plays', /on a condition\. Nothing was changed/],
  ["don't stop quake", /I changed nothing just now/],
  ['stop all servers except quake', /Nothing was changed/],
  ['delete all my movies', /Nothing was changed/],
  ['stop quake tomorrow at 9', /later or on a condition\. Nothing was changed/],
  ['start quake in a minute', /later or on a condition\. Nothing was changed/],
  ['restart quake now', `asks restart_game_server ${QUAKE}`],
  ['remind me in 2 hours to check the disks', wake('2026-11-22T00:40:00Z', 'check the disks')],
  ['remind me to call Ada tomorrow at 9am', wake('2026-11-22T08:00:00Z', 'call Ada')],
  ['Remind me every monday at 18:30 to put out the bins', cron('30 18 * * 1', 'put out the bins')],
  ['remind me at 5 to leave', /05:00 or 17:00\? No reminder is set/],
  ['tell me when a download is done', new RegExp(waits('download_complete').replaceAll(/[[\]]/g, '\\$&'))],
  ['let me know when someone joins quake', /"type":"player_joined","match":\{"server":"quake"\}/],
  ['tell me when the cpu is above 80%', /nothing is set/],
  ['is quake up?', `get_game_server ${QUAKE}`],
  ['how many players on quake', `get_player_count ${QUAKE}`],
  ['who is online', 'get_player_count {}'],
  ['how much ram is free on the server', METRICS],
  ["how's the nas doing", METRICS],
  ['top 5 processes by cpu', 'get_processes {"sort":"cpu"}'],
  ['why did quake crash last night', 'diagnose_game_server {"server":"quake"}'],
  ["restart the quake server, it's lagging like crazy", `asks restart_game_server ${QUAKE}`],
  ['restart the quake server, then stop atm-10', /Nothing was changed/],
  ['stop all game servers except quake', /Nothing was changed/],
  ['kick Steve_1 from quake', 'asks run_game_command {"server":"quake","command":"kick Steve_1"}'],
  [
    'tell everyone on quake that dinner is ready',
    'asks run_game_command {"server":"quake","command":"say dinner is ready"}',
  ],
  ['limit downloads to 2 MB/s', 'asks set_download_speed {"limitMiBps":1.91}'],
  ['limit downloads to 16 Mbit/s', 'asks set_download_speed {"limitMiBps":1.91}'],
  ['remove the speed limit', 'asks set_download_speed {"limitMiBps":0}'],
  ['magnet:?xt=urn:btih:3b24&dn=debian', 'asks add_download {"url":"magnet:?xt=urn:btih:3b24&dn=debian"}'],
  ['pause the debian torrent', 'asks pause_download {"download":"debian"}'],
  ['pause sabnzbd for 30 minutes, I have a call', 'asks pause_downloads {"minutes":30,"client":"sabnzbd"}'],
  ['do we have The Thing (1982)?', 'search_media {"query":"The Thing (1982)"}'],
  ['request Dune Part Two (2024)', 'search_media {"query":"Dune Part Two (2024)"}'],
  ['send a test notifcation', 'asks send_notification {"message":"test"}'],
  ['cancel the reminder about the oven', 'list_schedules {}'],
  ['let me know when the Oppenheimer download is done', /"download_complete"/],
  ['tell me when the Oppenheimer download is done and then stop quake', /nothing is set/],
  ['every sunday at 3am restart quake', /`\/remind every sunday at 3am restart quake`/],
  ['resart quake plz', /restart_game_server/],
  ['start the factorio server', /"atm-10 \| quake"/],
  [
    'in an hour, check whether quake is still running',
    /`\/remind in an hour, check whether quake is still running`/,
  ],
  ['set a timer for 10 minutes', /"at":"2026-11-21T22:50:00Z"/],
  ['delete all finished torrents', /Nothing was changed/],
  ['what is eating all my RAM', 'get_processes {"sort":"memory"}'],
  ['what is the load average', METRICS],
  ['add Dune Part Two to radarr', 'search_media {"query":"Dune Part Two"}'],
  ['restart the jellyfin container', 'asks restart_container {"container":"jellyfin"}'],
  ['good night', /^Good night!/],
  ['thanks!', /^You are welcome/],
  ['who are you?', /^I am the hub itself/],
  ['/models', /Ollama at http:..127\.0\.0\.1:11434.*ANTHROPIC_API_KEY.*SUPERBLOOM_MODEL=qwen3:8b/s],
  ['which models can you use?', /Ollama at/],
  ['what can you do', /^No language model is connected/],
  ['hello', /^Hello! No language model is connected/],
  ["what's the weather in Berlin?", 'no'],
  ['write me a poem about my server', 'no'],
]

const OTHERS: readonly [request: string, useful: string | RegExp | 'no'][] = [
  ['wie heiß ist die CPU?', METRICS],
  ['wer spielt auf quake?', `get_player_count ${QUAKE}`],
  ['Starte den quake Server', `asks start_game_server ${QUAKE}`],
  ['erinnere mich morgen um 9 an den Müll', wake('2026-11-22T08:00:00Z', 'den Müll')],
  ['erinnere mich jeden Tag um 8 ans Lüften', cron('0 8 * * *', 'ans Lüften')],
  ['sag mir Bescheid, wenn der Download fertig ist', /"download_complete"/],
  ['lösche alle Filme', /Nothing was changed/],
  ['combien de joueurs sont sur quake ?', `get_player_count ${QUAKE}`],
  ['arrête le serveur quake', `asks stop_game_server ${QUAKE}`],
  ['rappelle-moi chaque lundi à 9h de sortir les poubelles', cron('0 9 * * 1', 'sortir les poubelles')],
  ['¿cuánto espacio queda en el disco?', METRICS],
  ['kannst du mich morgen um 9 an den Arzt erinnern', wake('2026-11-22T08:00:00Z', 'den Arzt')],
  ['kun je me morgen om 9:00 herinneren aan de was', wake('2026-11-22T08:00:00Z', 'was')],
  ['recuérdame mañana a las 9 llamar a Ana', wake('2026-11-22T08:00:00Z', 'llamar a Ana')],
  ['herinner me over 20 minuten aan de oven', wake('2026-11-21T23:00:00Z', 'oven')],
  ['напомни мне завтра в 9 утра позвонить', wake('2026-11-22T08:00:00Z', 'позвонить')],
  ['Bitte starte quake neu', `asks restart_game_server ${QUAKE}`],
  ['drossel die downloads auf 2 MB/s', 'asks set_download_speed {"limitMiBps":1.91}'],
  ['erinnere mich morgen um 8 Uhr daran, zu lüften', wake('2026-11-22T07:00:00Z', 'lüften')],
  ['mets les téléchargements en pause stp', 'asks pause_downloads {}'],
  ["c'est quoi la température du cpu", METRICS],
  ['pide la serie La casa de papel', 'asks request_show {"title":"casa de papel"}'],
  ['wat wordt er nu gedownload?', 'get_download_status {"state":"downloading"}'],
  ['明日の9時に会議をリマインドして', wake('2026-11-22T08:00:00Z', '会議')],
]

const isUseful = ({ runs, asks, text }: Answer, useful: string | RegExp) => {
  if (useful === 'no') return false
  if (typeof useful !== 'string') return useful.test([text, ...runs].join('\n'))
  return runs.includes(useful) || asks.some(call => `asks ${call}` === useful)
}

const CLAIM =
  /(?<!nothing was |not |be )(?:\bdone\b|stopped|started|restarted|paused|deleted|removed|was sent|cancelled|switched)/i

describe.each([
  ['English', ENGLISH, 72],
  ['other languages', OTHERS, 18],
] as const)('%s', (_language, requests, least) => {
  test('nothing changes without a yes, and nothing is said to be done', async () => {
    for (const [request] of requests) {
      const { runs, asks, text } = await answer(request)
      const isReading = (call: string) =>
        tools.find(({ name }) => call.startsWith(`${name} `))?.readOnly === true
      const isReminder = (call: string) => /^schedule_(?:wake|cron) /.test(call)
      expect(
        runs.filter(call => !isReading(call) && !isReminder(call)),
        request,
      ).toEqual([])
      expect(asks.filter(isReading), request).toEqual([])
      const said = text.split('\n').filter(line => !line.startsWith('- '))
      expect(said.join('\n').replaceAll(/[“`][^”`]*[”`]/g, ''), request).not.toMatch(CLAIM)
    }
  })

  test('most get what they asked for', async () => {
    const answers = await Promise.all(
      requests.map(async ([request, useful]) => ({ request, useful, got: await answer(request) })),
    )
    const wrong = answers.filter(({ useful, got }) => useful !== 'no' && !isUseful(got, useful))
    expect(wrong.map(({ request, got }) => [request, got.runs, got.asks, got.text.slice(0, 100)])).toEqual([])
    expect(
      answers.length - wrong.length - answers.filter(({ useful }) => useful === 'no').length,
    ).toBeGreaterThanOrEqual(least)
  })
})

test('what nobody here can do is said, with how to connect a model', async () => {
  const { runs, asks, text } = await answer("what's the weather in Berlin?")
  expect([runs, asks]).toEqual([[], []])
  expect(text).toMatch(/^No language model is connected.*`\/models` what could be connected/)
  expect((await answer('/help')).text).toMatch(/Ollama.*ANTHROPIC_API_KEY.*superbloom doctor/s)
})
