import type { ModelTool } from '../../core/model.ts'
import { describeServers, describeVariables, type FoundModels } from '../find-models.ts'
import { fold } from './words.ts'

/** Example questions, each by the tool of a built-in server that answers it. */
const EXAMPLES: Record<string, string> = {
  get_system_metrics: 'how is this machine doing?',
  get_disk_health: 'are my disks healthy?',
  list_game_servers: 'which game servers are running?',
  get_download_status: 'show the downloads',
  search_media: 'search the film “Dune”',
  get_container_status: 'show the containers',
}

export const NO_MODEL = 'No language model is connected'

/** Describes what works without a model, and how to connect one. */
export function sayHelp(tools: readonly ModelTool[]): string {
  const has = (name: string) => tools.some(tool => tool.name === name)
  const asked = Object.entries(EXAMPLES).flatMap(([name, words]) => (has(name) ? [`“${words}”`] : []))
  return [
    `${NO_MODEL}: plain commands answer here. What works now:`,
    `- **Questions** that a tool clearly answers${asked.length > 0 ? `: ${asked.slice(0, 4).join(', ')}` : ''}.`,
    '- **Changes**: I offer the exact call, and it runs only after your yes.',
    ...(has('schedule_wake')
      ? [
          '- **Reminders**: `/remind in 2 hours check the disks`, “remind me every monday at 18:30 to put out the bins”. `/schedules` lists and cancels them.',
          '- **Waiting**: “tell me when a download is complete”.',
        ]
      : []),
    '- **Exact calls**: `/tools [words]` lists the tools, `/call tool {"argument": "value"}` calls one, `/help` shows this.',
    CONNECT,
  ].join('\n')
}

const CONNECT = `To connect a model (\`/models\` shows what answers on this machine):
- On this machine: install Ollama, \`ollama pull qwen3\`, then start the hub with \`OPENAI_BASE_URL=http://127.0.0.1:11434/v1 SUPERBLOOM_MODEL=qwen3\`.
- With a key: \`ANTHROPIC_API_KEY=… SUPERBLOOM_MODEL=anthropic/<model>\`, or \`OPENAI_BASE_URL\`, \`OPENAI_API_KEY\` and \`SUPERBLOOM_MODEL\` for any other.
- \`superbloom doctor\` says whether it works.`

const MODEL_QUESTION =
  /^\/models?(?!\p{L})|(?<!\p{L})(?:which|what|connect|use|add|choose|find|set up|configure|welche|verbinde|quels?|que|quali) (?:(?:a|an|the|other|language|ai) )*(?:models?|llms?|ollama|modelle?|modeles?|modelos?|modelli)(?!\p{L})/iu

/** Tells whether a message asks which models there are, or how to connect one. */
export function isModelQuestion(text: string): boolean {
  return text.length < 100 && MODEL_QUESTION.test(text.trim())
}

/** Describes the model servers on this machine, and how to connect one. */
export function sayModels(found: FoundModels): string {
  const keys = found.keys.length > 0 ? `Keys in the hub's environment: ${found.keys.join(', ')}.\n\n` : ''
  const lines = describeServers(found).map(line => `- ${line}`)
  const isThere = found.servers.some(({ models }) => models.length > 0)
  const how = isThere ? `To connect one, start the hub with \`${describeVariables(found)}\`.` : CONNECT
  return `On this machine:\n${lines.join('\n')}\n\n${keys}${how} \`superbloom models try\` tries it first.`
}

const LONGEST_TALK = 80
/** Small talk, in folded letters, with its answer; a question about who answers goes before a greeting. */
const SMALL_TALK: readonly [RegExp, (tools: readonly ModelTool[]) => string][] = [
  [
    /(?<!\p{L})(?:who are you|what are you|are you (?:an? )?(?:bot|ai|human|real|chatgpt|gpt|claude|robot)|your name|wer bist du|qui es[- ]tu|quien eres|chi sei|wie ben jij|quem es)(?!\p{L})/u,
    () =>
      `I am the hub itself. ${NO_MODEL}, so only plain commands answer here: I look things up, set reminders, and offer exact calls that wait for your yes. \`/help\` shows how.`,
  ],
  [
    /(?<!\p{L})(?:what can (?:you|i)|what do you (?:do|know)|help(?: me)?$|how do(?:es)? (?:this|you) work|was kannst du|hilfe$|que peux[- ]tu|aide$|que puedes|ayuda$|cosa puoi|aiuto$|wat kan je|wat kun je|o que (?:voce )?(?:pode|podes)|co (?:umiesz|potrafisz))(?!\p{L})/u,
    sayHelp,
  ],
  [
    /^(?:hi|hey|hello|yo|good (?:morning|evening|afternoon|day)|hallo|guten (?:morgen|tag|abend)|moin|bonjour|bonsoir|salut|hola|buenos dias|buenas|ciao|buongiorno|buonasera|hoi|goedemorgen|goedenavond|ola|bom dia|boa noite|czesc|hej|привет|こんにちは)(?:\s+\p{L}+)?$/u,
    tools => `Hello! ${sayHelp(tools)}`,
  ],
  [
    /^(?:good night|night|gute nacht|bonne nuit|buenas noches|buonanotte|welterusten|bye|see you|tschuss|dobranoc)(?!\p{L})/u,
    () => 'Good night! What is scheduled still comes.',
  ],
  [
    /^(?:(?:ok|great|nice|cool|perfect|super|wow|ah|oh)\s+)?(?:thanks|thank you|thx|ty|cheers|danke|merci|gracias|grazie|bedankt|dank je|obrigad[oa]|dziekuje|dzieki|спасибо|ありがとう|nice|great|well done|good (?:job|bot)|perfect|awesome)(?!\p{L})/u,
    () => 'You are welcome.',
  ],
]

/** Answers a greeting, thanks, and a question about who answers; undefined for anything else. */
export function answerSmallTalk(message: string, tools: readonly ModelTool[]): string | undefined {
  const text = fold(message)
    .replaceAll(/[^\p{L}\p{N}' -]+/gu, ' ')
    .trim()
  if (text.length > LONGEST_TALK) return undefined
  return SMALL_TALK.find(([words]) => words.test(text))?.[1](tools)
}
