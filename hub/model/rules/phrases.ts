import { plural, truncate } from '../../core/text.ts'
import { type Catalogue, isMetaTool, type KnownTool } from './catalogue.ts'

/** What stands once at the beginning: who answers here, and how to have a language model instead. */
export const INTRODUCTION =
  'Just so you know: no language model is configured, so I answer by simple rules. I can run your tools, set reminders and ' +
  'remember facts (/help shows how); for real conversation set `OPENAI_BASE_URL`, `OPENAI_API_KEY` and `SUPERBLOOM_MODEL`.'

const LONGEST_LINE = 110

/** The first sentence of a tool's description, on one line. */
function toSummary(tool: KnownTool): string {
  const first = tool.description.split(/(?<=[.!?])\s/)[0] ?? ''
  return truncateLine((first || tool.title).replace(/\s+/g, ' ').trim())
}

function truncateLine(text: string): string {
  return text.length <= LONGEST_LINE ? text : `${text.slice(0, LONGEST_LINE - 1)}…`
}

export function toLine(tool: KnownTool): string {
  const summary = toSummary(tool)
  return summary === '' ? `- \`${tool.name}\`` : `- \`${tool.name}\`: ${summary}`
}

export function sayHelp(catalogue: Catalogue): string {
  const has = (name: string) => catalogue.callable.some(tool => tool.name === name)
  const asks = EXAMPLES.filter(([name]) => has(name)).map(([, words]) => words)
  const count = catalogue.tools.filter(({ name }) => !isMetaTool(name)).length
  return [
    'I work by rules, without a language model. This is what I understand:',
    `- **Questions and orders for your tools** (${catalogue.lean ? 'many' : plural(count, 'tool')}): ${asks.length > 0 ? asks.join(', ') : "say what you want to know in the words of a tool's name"}. Where something is missing or may change things, I ask first.`,
    ...(has('schedule_wake')
      ? [
          '- **Reminders**: "remind me in 20 minutes to check the disks", "every weekday at 7: morning report", "list reminders", "cancel the reminder about the disks".',
        ]
      : []),
    ...(has('store_context')
      ? ['- **Facts**: "remember that the NAS is at 10.0.0.5", "what do you remember?".']
      : []),
    '- **Commands**: `/tools [filter]` lists the tools, `/call tool {json}` runs one with exact arguments, `/help` shows this.',
    '- **In charge**: `/stop` stops what I do, `/reset` starts me fresh; what I stored and scheduled stays.',
    'For real conversation set `OPENAI_BASE_URL`, `OPENAI_API_KEY` and `SUPERBLOOM_MODEL`, then start the hub again.',
  ].join('\n')
}

const EXAMPLES: [string, string][] = [
  ['get_system_metrics', '"how is this machine doing?"'],
  ['get_processes', '"what is eating my cpu?"'],
  ['get_disk_health', '"are my disks ok?"'],
  ['list_game_servers', '"which game servers are running?"'],
  ['get_download_status', '"what is downloading?"'],
  ['search_media', '"search media dune"'],
]

/** What could not be placed, with the tools that come nearest. */
export function sayUnplaced(text: string, nearest: KnownTool[]): string {
  const said = truncate(text.replace(/\s+/g, ' ').trim(), 120)
  const lead = said === '' ? 'I got an empty message.' : `I could not tell what to do with “${said}”.`
  if (nearest.length === 0)
    return `${lead} /help shows what I understand, and /tools lists everything I can run.`
  const lines = nearest.map(toLine).join('\n')
  return `${lead} The nearest I have:\n${lines}\nSay it in those words, or see /help.`
}

/** An answer to what needs no tool: greetings, thanks, who are you. */
export function saySmallTalk(text: string, catalogue: Catalogue): string | undefined {
  const plain = text
    .trim()
    .toLowerCase()
    .replace(/[’']/g, '')
    .replace(/[\s.!?,]+$/, '')
  if (
    /^(?:hi|hello|hey|hiya|yo|good (?:morning|afternoon|evening|day)|moin|howdy)(?: (?:there|all|you|bot|superbloom))?$/.test(
      plain,
    )
  ) {
    return 'Hello! Ask me how the machine is doing, have me remind you of something, or say /help.'
  }
  if (/^(?:how are you(?: doing)?(?: today)?|hows it going|whats up|sup)$/.test(plain)) {
    return 'All gears turning, thank you. Ask me how the machine is doing, or say /help.'
  }
  if (
    /^(?:(?:many )?thanks?(?: you)?(?: a lot| so much| very much)?|thx|ty|cheers|great|nice|cool|perfect|good|ok|okay|bye|good ?(?:bye|night))$/.test(
      plain,
    )
  ) {
    return /night|bye/.test(plain) ? 'Good bye! Reminders go on without you.' : "You're welcome."
  }
  const asksHelp =
    /^(?:help(?: me)?|who are you|what are you|what can (?:you|i) (?:do|say|ask)(?: here)?|how do(?:es)? (?:you|this) work|commands)$/
  return asksHelp.test(plain) ? sayHelp(catalogue) : undefined
}
