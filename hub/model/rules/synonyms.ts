import { stem, toParts, toPlain } from './words.ts'

/** Words that people use for one another around a homelab; each line is one meaning. */
const MEANINGS = [
  'system machine computer host box pc nas hardware server rig',
  'temperature temperatures temp temps heat hot warm cool cold thermal overheating degrees fan fans',
  'cpu processor cores load',
  'memory ram',
  'disk disks drive drives hdd ssd nvme smart raid',
  'disk storage space volume mount filesystem',
  'process processes program programs app apps application eating hogging consuming slow using top',
  'health healthy ok okay fine well broken failing dying good sound',
  'status state condition doing running alive',
  'metrics metric stats statistics usage utilisation utilization performance doing status load condition vitals',
  'network bandwidth traffic',
  'uptime up',
  'download downloads downloading torrent torrents downloader',
  'container containers docker pod pods',
  'log logs output console',
  'alert alerts alarm alarms warning warnings firing',
  'game games gaming minecraft',
  'player players playing online people',
  'diagnose diagnosis diagnostic wrong broken problem problems trouble troubleshoot lag laggy',
  'media movie movies film films video videos',
  'media show series tv season seasons video videos',
  'session sessions watching streaming streams stream',
  'recent recently new latest newest',
  'upcoming coming soon next calendar',
  'request requests requested wish',
  'notification notifications notify message messages alert ping',
  'file files document documents',
  'text contents content',
  'directory directories folder folders dir',
  'graph knowledge',
  'search find look query',
  'list show which all available',
  'read show open view print cat display',
  'info information details metadata about',
  'count number many',
  'history past previous earlier before',
  'start launch boot begin',
  'stop halt shutdown kill quit terminate end',
  'restart reboot bounce relaunch',
  'pause suspend hold',
  'resume continue unpause',
  'delete remove erase wipe trash uninstall',
  'create make',
  'add queue',
  'write save store',
  'send post notify',
  'move rename',
  'set change limit throttle',
  'run execute command',
  'speed rate fast',
  'refresh rescan scan',
]

/** Two words said as one, before anything else is looked at. */
const PHRASES: [RegExp, string][] = [
  [/\b(?:turn|switch|power|spin|fire|bring|boot|start) (on|up)\b/g, 'start'],
  [/\b(?:turn|switch|power|bring|shut|take|spin) (?:off|down)\b/g, 'stop'],
  [
    /\b(turn|switch|power|spin|fire|bring|boot|shut|take) (.{1,40}?) (up|on|off|down)(?=[\s.!?]*$)/g,
    '$1-$3 $2',
  ],
  [/\b(?:turn|switch|power|spin|fire|bring|boot)-(?:on|up)\b/g, 'start'],
  [/\b(?:turn|switch|power|bring|shut|take|spin)-(?:off|down)\b/g, 'stop'],
  [/\bwho(?:'s| is| are)? (?:online|playing|on)\b/g, 'player count'],
  [/\b(?:any|some)(?:one|body) (?:still )?(?:online|playing|on)\b/g, 'player count'],
  [/\bget rid of\b/g, 'delete'],
  [
    /\b(?:problems?|trouble|errors?|wrong|broken)\b (?:with|on|in) (?:the |my |a )?(disks?|drives?)\b/g,
    '$1 health',
  ],
  [/\b(?:out of|low on|much|free|enough) (?:space|room)\b/g, 'disk space'],
  [/\bup and running\b/g, 'running'],
  [/\bdownloading\b/g, 'download status'],
  [
    /^(?:(?:show|list|see|check|how are)(?: me)?(?: all)?(?: of)?(?: the| my| our)? )?downloads?(?: queue)?(?=\W*$)/g,
    'download status',
  ],
  [
    /^(?:show|list|what|which)(?: me)?(?: all)?(?: of)?(?: the| my| our)? (containers?|pods?)(?: run| are there)?(?=\W*$)/g,
    '$1 status',
  ],
]

/** What a sentence is about although it does not say so; the first that fits counts. Of plain text. */
const HINTS: [RegExp, string][] = [
  [/^\W*(?:list|show|which|what)\b.{0,40}\bfiles\b.{0,40}\bpath\b/, 'list directory'],
  [
    /^\W*(?:check )?(?:the |my )?(?:cpu|memory|ram|swap|load)\b\W*(?:cpu|memory|ram|swap|load)?$/,
    'system metrics',
  ],
  [/\bhow long\b.{0,40}\bup\b/, 'system metrics uptime'],
  [/\bfile\b.{0,40}\bpath\b|^\W*(?:read|open|show|cat|view)\b.{0,20}\bfile\b/, 'text'],
  [/\bsmart\b|\bdisk device\b/, 'disk health'],
  [/\b(?:us|eat|tak|hogg?|consum|slow)ing\b.{0,40}\b(?:cpu|memory|ram|processor)\b/, 'processes'],
  [/\b(?:temps?|temperatur\w*|hot|heat\w*|warm|overheat\w*|fans?|thermal|uptime)\b/, 'system metrics'],
  [/\b(?:disks?|drives?|storage|space)\b.{0,40}\b(?:space|full|left|free|usage|used)\b/, 'system metrics'],
  [
    /\b(?:free|full|much|left|enough|low|usage)\b.{0,40}\b(?:memory|ram|swap|cpu|space|storage)\b/,
    'system metrics',
  ],
  [
    /\b(?:memory|ram|swap|cpu)\b.{0,40}\b(?:free|available|left|used|usage|full|busy|load|percent)\b/,
    'system metrics',
  ],
  [
    /\b(?:everything|all|things|machine|computer|host|box|pc|nas|system|(?:my|the|this|our|your) server)\b.{0,40}\b(?:health\w*|ok|okay|fine|well|alright|good)\b/,
    'system metrics',
  ],
]

interface Meaning {
  written: string[]
  stems: ReadonlySet<string>
}

const GROUPS: Meaning[] = MEANINGS.map(line => {
  const written = toParts(line)
  return { written, stems: new Set(written.map(stem)) }
})

/** Every stem that a meaning knows. */
export const KNOWN_STEMS: ReadonlySet<string> = new Set(GROUPS.flatMap(group => [...group.stems]))

/** The stems that mean what this one means, itself not among them. */
export function synonymsOf(word: string): ReadonlySet<string> {
  const alike = new Set(GROUPS.filter(group => group.stems.has(word)).flatMap(group => [...group.stems]))
  alike.delete(word)
  return alike
}

/** Whether two stems stand for the same thing. */
export function areSynonyms(a: string, b: string): boolean {
  return GROUPS.some(group => group.stems.has(a) && group.stems.has(b))
}

/** The words of a text that say something, with those that mean the same: what to look for in a search by words. */
export function widen(text: string): string[] {
  const plain = joinPhrases(toPlain(text))
  const said = toParts(plain).filter(part => !STOPS.has(stem(part)))
  const alike = said.flatMap(part =>
    GROUPS.filter(group => group.stems.has(stem(part))).flatMap(group => group.written),
  )
  return [...new Set([...said, ...hintsOf(plain), ...alike])]
}

/** The verbs of those meanings that change something. */
const CHANGES = 'start stop restart pause resume delete create add write send move set run request'

const CHANGING = new Set(
  toParts(CHANGES)
    .map(stem)
    .flatMap(verb => [verb, ...synonymsOf(verb)]),
)

/** Whether a verb's stem orders a change: whatever only looks does not serve it. */
export function isChange(verb: string): boolean {
  return CHANGING.has(verb)
}

/** The sentence with its two-word verbs as one: "turn valheim off" → "stop valheim". Expects plain text. */
export function joinPhrases(plain: string): string {
  return PHRASES.reduce((text, [phrase, word]) => text.replace(phrase, word), plain)
}

/** Words that the sentence hints at without saying them. Expects plain text. */
export function hintsOf(plain: string): string[] {
  const hint = HINTS.find(([about]) => about.test(plain))
  return hint ? toParts(hint[1]) : []
}

const STOP_WORDS = `a an the this that these those my your our its their me i you we it he she they him her us them
is are was were be been being am do does did done have has had can could would will shall should may might must
please kindly just now right currently today here there of on in at to for from with by as into onto
and or but if then so than too also very really much some any every each what whats who whos whom whose how hows when where why
tell give let lets get got want wanna need like know see check look like hey hi hello ok's thanks thank
about up out off over one ones thing things something anything everything moment still already again quick quickly
going gone go goes come happen happening kind sort way s t re ll d m ve quick not don no yes yet ever actually maybe
anyone someone everyone nobody anybody somebody everybody`

/** Words that say nothing about which tool is meant. */
export const STOPS: ReadonlySet<string> = new Set(STOP_WORDS.split(/\s+/).map(stem))

/** Words that so many names begin with that they tell little. */
export const COMMON_VERBS: ReadonlySet<string> = new Set([
  'get',
  'list',
  'show',
  'fetch',
  'query',
  'find',
  'read',
  'open',
  'tool',
])
