import type { Outcome } from './cycle.ts'
import { serversIn } from './exact.ts'
import { type Plan, type Scene, say, wordOutcome } from './plan.ts'
import { withoutPlease } from './reminders.ts'
import { fold, isStop, toWords } from './words.ts'

interface KnownEvent {
  type: string
  /** A tool of the server that raises the event. */
  from: string
  says: string
  /** Patterns, each of which has to match the folded text. */
  words: readonly RegExp[]
}

const SHARED: Record<string, string> = {
  DOWNLOAD: String.raw`(?:down)?load\p{L}*|torrent\p{L}*|telechargement\p{L}*|descarga\p{L}*|herunter\p{L}*|scaric\p{L}*|загрузк\p{L}*`,
  PERSON: String.raw`players?|someone|somebody|anyone|friends?|jemand|spieler|joueurs?|quelqu'un|jugador\p{L}*|alguien|giocator\p{L}*|qualcuno|speler|iemand|игрок\p{L}*`,
  HIGH: `high|busy|load(?:ed)?|overload(?:ed)?|full|almost|nearly|low|out|up|too|gets?|getting|goes|runs?|running|spikes?|fills?|hoch|ausgelastet|knapp|voll|zu|haute?|alt[ao]|pleine?|llen[oa]|pien[oa]|trop`,
}

/**
 * Events of the built-in servers that a thread can wait for without a model. A line has the type, a tool of
 * its server, what it says, and groups of words, each of which has to be in the folded text.
 */
const EVENTS: readonly KnownEvent[] = String.raw`
cpu_high; get_system_metrics; the CPU is very busy; cpu|processor|prozessor|processeur|procesador; HIGH
memory_high; get_system_metrics; memory runs out; memory|ram|(?:arbeits)?speicher|memoire|memoria; HIGH
disk_high; get_system_metrics; a disk is getting full; disks?|drives?|(?:fest)?platten?|disques?|discos?|dischi|schijf; HIGH
temp_high; get_system_metrics; something is too hot; hot|heiss|warm|chaude?|caliente|calda?|overheat\p{L}*|temp\p{L}*; HIGH|hot|heiss|overheat\p{L}*
server_empty; list_game_servers; the last player leaves a game server; (?:last|every|letzte|dernier|ultimo)\p{L}* ?(?:player|one|body|spieler|joueur|jugador)|nobody|no one|empty|leer|vide|vaci[oa]|niemand; left|leaves?|empty|leer|plays?|playing|online|gone|spielt|mehr|vide|part|sale|geht|vaci[oa]
player_joined; list_game_servers; a player joins a game server; PERSON; join\p{L}*|logs?|comes?|connects?|playing|beitritt|kommt|rejoint|entra|online|заход\p{L}*|зайд\p{L}*
player_left; list_game_servers; a player leaves a game server; PERSON; leaves?|quits?|disconnects?|verlasst|geht|part|quitte|sale|esce
server_crash; list_game_servers; a game server crashes; servers?|gameserver|games?|serveurs?|servidor\p{L}*; crash\p{L}*|absturzt|abgesturzt|plante|dies|falla
download_complete; get_download_status; a download is complete; DOWNLOAD; done|finish\p{L}*|complet\p{L}*|ready|finisc\p{L}*|fertig|termin\p{L}*|finie?|finit[oa]|abgeschlossen|list[oa]|klaar|законч\p{L}*|заверш\p{L}*
download_failed; get_download_status; a download fails; DOWNLOAD; fail(?:s|ed)?|fehlschlagt|scheitert|echoue|falla|fallisce
disk_full_warning; get_download_status; there is too little space for the downloads; DOWNLOAD; space|room|platz|espace|espacio
transcode_started; get_jellyfin_sessions; a stream is transcoded; transcod\p{L}*|transkodier\p{L}*
media_added; get_recently_added; something new is in the media library; movies?|films?|series?|serien|shows?|episodes?|media|something|albums?; added|arrives?|new|neue?s?|hinzu\p{L}*|ajoute\p{L}*|nuev[oa]
container_unhealthy; get_container_status; a container is unhealthy; containers?|docker|pods?|conteneurs?|contenedor\p{L}*; unhealthy|sick|ungesund|krank`
  .trim()
  .split('\n')
  .map(line => {
    const [type = '', from = '', says = '', ...groups] = line.split('; ')
    const words = groups.map(group => group.replace(/DOWNLOAD|PERSON|HIGH/, name => SHARED[name] ?? ''))
    return {
      type,
      from,
      says,
      words: words.map(each => new RegExp(`(?<!\\p{L})(?:${each})(?!\\p{L})`, 'gu')),
    }
  })

const TELL_WHEN =
  /^(?:(?:tell|notify|warn|alert|ping|message|remind|inform|text) (?:me|us)|let (?:me|us) know|give me a shout|sag(?:e)?(?: mir)?(?: bescheid)?|gib mir bescheid|meld(?:e)? dich|benachrichtige mich|warne mich|(?:pre)?viens-moi|previens-moi|dis-moi|avertis-moi|avisame|dime|avvisami|dimmi|avisa-me|me avisa|laat (?:me|mij) weten|waarschuw (?:me|mij)|zeg het me|скажи(?: мне)?|сообщи(?: мне)?|предупреди(?: меня)?)[\s,]+(?:as soon as|whenever|when|once|if|wenn|sobald|falls|quand|des que|lorsque|si|cuando|en cuanto|quando|appena|se|als|wanneer|zodra|когда|если)(?!\p{L})\s*/u

/** Returns what a person wants to be told of once it happens; undefined where the text is no such request. */
export function readTellWhen(text: string): string | undefined {
  const plain = fold(withoutPlease(text))
  const lead = TELL_WHEN.exec(plain)?.[0]
  return lead === undefined ? undefined : plain.slice(lead.length)
}

const FILLERS = new Set(
  'server servers game gets get goes first next new again then been finally done mehr wieder bitte jeu juego gioco de mi mein meine meinem un une einer eines starts playing log logs up on'.split(
    ' ',
  ),
)

/** Events of things with names, each of which is told with its name. */
const OF_ANYTHING = new Set(['download_complete', 'media_added'])
/** A message that joins something else to the event asks for more than a wait. */
const MORE = /[,;]|(?<!\p{L})(?:and|then|und|dann|et|puis|y|luego|poi|en|dan|и)(?!\p{L})/u

/** Waits for the one known event that the words mean exactly, since any other words would be lost. */
export function decideTellWhen(what: string, scene: Scene, [done]: Outcome[]): Plan {
  if (done) return say(done.isError ? wordOutcome(done) : done.text)
  const has = (tool: string) => scene.tools.some(({ name }) => name === tool)
  const connected = has('schedule_wake') ? EVENTS.filter(({ from }) => has(from)) : []
  const servers = serversIn(what, scene.tools)
  const fitting = connected.filter(event => event.words.every(words => what.search(words) >= 0))
  const isNegated = /(?<!\p{L})(?:not|isn't|never|longer|nicht|kein\p{L}*|pas|niet|не)(?!\p{L})/u.test(what)
  const exact = fitting
    .map(event => ({ ...event, isNamed: restOf(what, event, servers).length > 0 }))
    // An event cannot name one download beforehand, so each that ends is reported by its name.
    .filter(({ type, isNamed }) => !isNamed || (OF_ANYTHING.has(type) && !MORE.test(what)))
    .filter(({ from }) => servers.length === 0 || from === 'list_game_servers')
  const [event] = exact
  const [server] = servers
  if (!event || isNegated || exact.length > 1 || servers.length > 1)
    return say(sayWaits(fitting.length > 0 ? fitting : connected))
  const { type, says, isNamed } = event
  const which = server === undefined ? (isNamed ? ', whichever it is' : '') : ` (${server})`
  return {
    kind: 'end',
    name: 'schedule_wake',
    arguments: {
      delay: 'on_event',
      reason: `You wanted to know when ${says}.`,
      wake_on_events: [server === undefined ? type : { type, match: { server } }],
    },
    text: `I tell you once when ${says}${which}. I wait for the event \`${type}\`; \`/schedules\` shows and cancels it.`,
  }
}

/** Returns the words that neither the event nor the servers' names explain. */
function restOf(what: string, { words }: KnownEvent, servers: readonly string[]): string[] {
  const left = words.reduce((text, each) => text.replace(each, ' '), what)
  return toWords(left).filter(
    word => !isStop(word, true) && !FILLERS.has(word) && !servers.some(name => fold(name) === word),
  )
}

function sayWaits(events: readonly KnownEvent[]): string {
  const lead = 'I cannot wait for exactly that without a language model, so nothing is set.'
  return events.length === 0
    ? `${lead} No server that reports events is connected.`
    : `${lead} I can wait for:\n${events.map(({ says }) => `- tell me when ${says}`).join('\n')}`
}
