import type { Outcome } from './cycle.ts'
import { type Plan, type Scene, say, wordOutcome } from './plan.ts'
import { withoutPlease } from './reminders.ts'
import { fold, isStop, toWords } from './words.ts'

interface KnownEvent {
  type: string
  /** A tool of the server that raises it. */
  from: string
  says: string
  /** Each of them has to be in the text, folded. */
  words: readonly RegExp[]
}

const DOWNLOAD =
  /(?:down)?load\p{L}*|torrent\p{L}*|telechargement\p{L}*|descarga\p{L}*|herunter\p{L}*|scaric\p{L}*|загрузк\p{L}*/gu
const PERSON =
  /players?|someone|somebody|anyone|friends?|jemand|spieler|joueurs?|quelqu'un|jugador\p{L}*|alguien|giocator\p{L}*|qualcuno|speler|iemand|игрок\p{L}*/gu
const HIGH =
  /high|busy|load(?:ed)?|overload(?:ed)?|hoch|ausgelastet|haute?|alta|alto|hits?|spikes?|maxed|gets?|goes|up|too/gu

/** What a thread can wait for without a model, as the built-in servers raise it. */
const EVENTS: readonly KnownEvent[] = [
  {
    type: 'cpu_high',
    from: 'get_system_metrics',
    says: 'the CPU is very busy',
    words: [/cpu|processor|prozessor|processeur|procesador/gu, HIGH],
  },
  {
    type: 'memory_high',
    from: 'get_system_metrics',
    says: 'memory runs out',
    words: [
      /memory|ram|(?:arbeits)?speicher|memoire|memoria/gu,
      /high|full|low|out|knapp|voll|pleine|llena|piena|runs?|running|gets?|too/gu,
    ],
  },
  {
    type: 'disk_high',
    from: 'get_system_metrics',
    says: 'a disk is getting full',
    words: [
      /disks?|drives?|(?:fest)?platten?|disques?|discos?|dischi|schijf/gu,
      /full|filled|fills?|voll|plein|llen[oa]|pien[oa]|vol|high|space|gets?|getting|runs?|running|almost|nearly|low|out|up/gu,
    ],
  },
  {
    type: 'temp_high',
    from: 'get_system_metrics',
    says: 'something is too hot',
    words: [
      /(?:too |zu |trop )?(?:hot|heiss|warm|chaude?|caliente|calda?|overheat\p{L}*)|temp\p{L}* (?:\p{L}+ )*(?:high|hoch|haute|alta)/gu,
      /machine|rechner|computer|pc|cpu|host|box|it|temp\p{L}*|something|gets?|runs?|overheat\p{L}*|zu|too|server|wird|es/gu,
    ],
  },
  {
    type: 'server_empty',
    from: 'list_game_servers',
    says: 'the last player leaves a game server',
    words: [
      /(?:last|every|all|no|letzte|dernier|ultimo)\p{L}* ?(?:players?|one|body|spieler|joueur|jugador)|nobody|everybody|everyone|empty|leer|vide|vaci[oa]|niemand/gu,
      /left|leaves?|empty|leer|plays?|playing|online|on|gone|is|spielt|mehr|vide|part|sale|geht|vaci[oa]|server|gets?|any ?more/gu,
    ],
  },
  {
    type: 'player_joined',
    from: 'list_game_servers',
    says: 'a player joins a game server',
    words: [
      PERSON,
      /joins?|joined|joining|logs?|comes?|connects?|starts? playing|is playing|beitritt|joint|kommt|rejoint|entra|binnenkomt|online|заход\p{L}*|зайд\p{L}*|присоедин\p{L}*/gu,
    ],
  },
  {
    type: 'player_left',
    from: 'list_game_servers',
    says: 'a player leaves a game server',
    words: [PERSON, /leaves?|quits?|disconnects?|verlasst|geht|part|quitte|sale|esce/gu],
  },
  {
    type: 'server_crash',
    from: 'list_game_servers',
    says: 'a game server crashes',
    words: [
      /servers?|gameserver|games?|serveurs?|servidor\p{L}*/gu,
      /crash(?:es|ed|t)?|absturzt|abgesturzt|plante|dies|goes down|se cae|falla/gu,
    ],
  },
  {
    type: 'download_complete',
    from: 'get_download_status',
    says: 'a download is complete',
    words: [
      DOWNLOAD,
      /done|finish\p{L}*|complete[sd]?|ready|fertig|termine\p{L}*|finie?|abgeschlossen|list[oa]|klaar|complet\p{L}*|finit[oa]|законч\p{L}*|заверш\p{L}*/gu,
    ],
  },
  {
    type: 'download_failed',
    from: 'get_download_status',
    says: 'a download fails',
    words: [DOWNLOAD, /fail(?:s|ed)?|fehlschlagt|scheitert|echoue|falla|fallisce|goes wrong/gu],
  },
  {
    type: 'disk_full_warning',
    from: 'get_download_status',
    says: 'there is too little space for the downloads',
    words: [DOWNLOAD, /space|room|platz|espace|espacio/gu],
  },
  {
    type: 'transcode_started',
    from: 'get_jellyfin_sessions',
    says: 'a stream is transcoded',
    words: [/transcod\p{L}*|transkodier\p{L}*/gu],
  },
  {
    type: 'media_added',
    from: 'get_recently_added',
    says: 'something new is in the media library',
    words: [
      /movies?|films?|series?|serien|shows?|episodes?|media|something|etwas|albums?|library/gu,
      /added|arrives?|new|neue?s?|hinzu\p{L}*|ajoute\p{L}*|nuev[oa]|comes? in/gu,
    ],
  },
  {
    type: 'container_unhealthy',
    from: 'get_container_status',
    says: 'a container is unhealthy',
    words: [
      /containers?|docker|pods?|conteneurs?|contenedor\p{L}*/gu,
      /unhealthy|sick|ungesund|krank|malsain/gu,
    ],
  },
]

const TELL_WHEN =
  /^(?:(?:tell|notify|warn|alert|ping|message|remind|inform|text) (?:me|us)|let (?:me|us) know|give me a shout|sag(?:e)? mir(?: bescheid)?|gib mir bescheid|meld(?:e)? dich|benachrichtige mich|warne mich|(?:pre)?viens-moi|previens-moi|dis-moi|avertis-moi|avisame|dime|avvisami|dimmi|avisa-me|me avisa|laat (?:me|mij) weten|waarschuw (?:me|mij)|zeg het me|скажи(?: мне)?|сообщи(?: мне)?|предупреди(?: меня)?)[\s,]+(?:as soon as|whenever|when|once|if|wenn|sobald|falls|quand|des que|lorsque|si|cuando|en cuanto|quando|appena|se|als|wanneer|zodra|когда|если)(?!\p{L})\s*/u

/** What a person wants to be told of once it happens; undefined where the text asks for nothing of the kind. */
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

/** Waits for the one known event that the words mean, and for nothing less: what they say besides would be lost. */
export function decideTellWhen(what: string, scene: Scene, [done]: Outcome[]): Plan {
  if (done) return say(done.isError ? wordOutcome(done) : done.text)
  const connected = EVENTS.filter(({ from }) => scene.tools.some(({ name }) => name === from))
  const servers = serversIn(what, scene)
  const fitting = EVENTS.filter(event => event.words.every(words => hasWord(what, words)))
  const isNegated = /(?<!\p{L})(?:not|isn't|never|longer|nicht|kein\p{L}*|pas|niet|не)(?!\p{L})/u.test(what)
  const exact = fitting.filter(event => restOf(what, event, servers).length === 0)
  const [event] = exact
  if (
    !event ||
    isNegated ||
    exact.length > 1 ||
    servers.length > 1 ||
    !scene.tools.some(({ name }) => name === 'schedule_wake')
  )
    return say(sayWaits(connected, fitting))
  if (!connected.includes(event))
    return say(
      `I would wait for ${event.type}, but the server that reports it is not connected. Nothing is set.`,
    )
  const [server] = servers
  if (server !== undefined && event.from !== 'list_game_servers') return say(sayWaits(connected, fitting))
  const wanted = server === undefined ? event.type : { type: event.type, match: { server } }
  const text = `I tell you once when ${event.says}${server === undefined ? '' : ` (${server})`}. I wait for the event \`${event.type}\`; \`/schedules\` shows and cancels it.`
  const reason = `You wanted to know when ${event.says}.`
  return {
    kind: 'end',
    name: 'schedule_wake',
    arguments: { delay: 'on_event', reason, wake_on_events: [wanted] },
    text,
  }
}

function hasWord(text: string, words: RegExp): boolean {
  return new RegExp(`(?<!\\p{L})(?:${words.source})(?!\\p{L})`, 'u').test(text)
}

/** The words that neither the event nor the servers' names explain. */
function restOf(what: string, { words }: KnownEvent, servers: readonly string[]): string[] {
  const left = words.reduce(
    (text, each) => text.replace(new RegExp(`(?<!\\p{L})(?:${each.source})(?!\\p{L})`, 'gu'), ' '),
    what,
  )
  return toWords(left).filter(
    word => !isStop(word) && !FILLERS.has(word) && !servers.some(name => fold(name) === word),
  )
}

/** Names of game servers in a text, as the tools' schemas list them. */
function serversIn(what: string, { tools }: Scene): string[] {
  const schema = JSON.stringify(tools.find(({ name }) => name === 'get_game_server')?.inputSchema ?? {})
  const names: string[] = JSON.parse(/"enum":(\[[^\]]*\])/.exec(schema)?.[1] ?? '[]')
  const words = toWords(what)
  return names.filter(name => words.includes(fold(name)))
}

function sayWaits(connected: readonly KnownEvent[], fitting: readonly KnownEvent[]): string {
  const near = connected.filter(event => fitting.includes(event))
  const known = (near.length > 0 ? near : connected).map(({ says }) => `- tell me when ${says}`)
  const lead = 'I cannot wait for exactly that without a language model, so nothing is set.'
  return known.length === 0
    ? `${lead} No server that reports events is connected.`
    : `${lead} I can wait for:\n${known.join('\n')}`
}
