import type { ModelTool } from '../../core/model.ts'
import { NO_MODEL, sayHelp } from './help.ts'
import { fold } from './words.ts'

const LONGEST = 80
const HELLO =
  /^(?:hi|hey|hello|yo|good (?:morning|evening|afternoon|day)|hallo|guten (?:morgen|tag|abend)|moin|bonjour|bonsoir|salut|hola|buenos dias|buenas|ciao|buongiorno|buonasera|hoi|goedemorgen|goedenavond|ola|bom dia|boa noite|czesc|hej|привет|こんにちは)(?:\s+\p{L}+)?$/u
const THANKS =
  /^(?:(?:ok|great|nice|cool|perfect|super|wow|ah|oh)\s+)?(?:thanks|thank you|thx|ty|cheers|danke|merci|gracias|grazie|bedankt|dank je|obrigad[oa]|dziekuje|dzieki|спасибо|ありがとう|nice|great|well done|good (?:job|bot)|perfect|awesome)(?!\p{L})/u
const BYE =
  /^(?:good night|night|gute nacht|bonne nuit|buenas noches|buonanotte|welterusten|bye|see you|tschuss|dobranoc)(?!\p{L})/u
const WHO =
  /(?<!\p{L})(?:who are you|what are you|are you (?:an? )?(?:bot|ai|human|real|chatgpt|gpt|claude|robot)|your name|wer bist du|qui es[- ]tu|quien eres|chi sei|wie ben jij|quem es)(?!\p{L})/u
const ABILITY =
  /(?<!\p{L})(?:what can (?:you|i)|what do you (?:do|know)|help(?: me)?$|how do(?:es)? (?:this|you) work|was kannst du|hilfe$|que peux[- ]tu|aide$|que puedes|ayuda$|cosa puoi|aiuto$|wat kan je|wat kun je|o que (?:voce )?(?:pode|podes)|co (?:umiesz|potrafisz))(?!\p{L})/u

/** Answers a greeting, thanks, and a question about who answers; undefined for anything else. */
export function answerSmallTalk(message: string, tools: readonly ModelTool[]): string | undefined {
  const text = fold(message)
    .replaceAll(/[^\p{L}\p{N}' -]+/gu, ' ')
    .trim()
  if (text.length > LONGEST) return undefined
  if (WHO.test(text))
    return `I am the hub itself. ${NO_MODEL}, so only plain commands answer here: I look things up, set reminders, and offer exact calls that wait for your yes. \`/help\` shows how.`
  if (ABILITY.test(text)) return sayHelp(tools)
  if (HELLO.test(text)) return `Hello! ${sayHelp(tools)}`
  if (BYE.test(text)) return 'Good night! What is scheduled still comes.'
  return THANKS.test(text) ? 'You are welcome.' : undefined
}
