import type { ChatMessage, NewUserMessage } from '../../schemas/chat.ts'
import { findNearest } from '../core/spelling.ts'
import { truncate } from '../core/text.ts'
import type { RuntimeDeps } from './deps.ts'
import { appendAnswer, appendUserMessage } from './user-message.ts'

/** Commands that the hub itself carries out, with what people are told of them. */
const OWN = {
  help: '`/help` shows this.',
  stop: '`/stop`, alone in a message, ends what the agent does right now.',
  new: '`/new topic` sums up what was said so far and begins with the topic.',
  reset: "`/reset [note]` starts the agent's memory fresh; the note tells it why.",
}

/** Commands of the terminal, which no message carries out, with where they work. */
const OF_TERMINAL: Record<string, string> = {
  approve: 'No message answers an approval: answer it on its card, or in `superbloom chat`.',
  deny: 'No message answers an approval: answer it on its card, or in `superbloom chat`.',
  open: '`/open` works in `superbloom chat`.',
  quit: '`/quit` works in `superbloom chat`.',
}

/** Commands where no language model is connected. With one they are text like any other, unless misspelled. */
const WITHOUT_MODEL = ['tools', 'call', 'remind', 'schedules', 'models']

/** `stop` and `reset` are carried out, `answer` is told at once; `agent`: the agent gets the message. */
export type DecidedCommand =
  | { kind: 'stop' }
  | { kind: 'reset'; message?: string }
  | { kind: 'topic' }
  | { kind: 'answer'; text: string }
  | { kind: 'agent' }

/**
 * Decides what a message that may begin with a command leads to. `known` has the further commands that the
 * agent's model takes. The word `help` alone is the command. A path, and a slash before a word with more text that resembles no command, go to the
 * agent: people write "/data is full".
 */
export function decideCommand(text: string, known: readonly string[] = []): DecidedCommand {
  const said = /^help[\s?!.]*$/i.test(text.trim()) ? '/help' : text.trim()
  const [, given, rest] = /^\/([a-z][a-z-]*)(?:\s+([\s\S]+))?$/i.exec(said) ?? []
  if (given === undefined) return { kind: 'agent' }
  const word = given.toLowerCase()
  if (known.includes(word)) return { kind: 'agent' }
  if (word === 'help') return { kind: 'answer', text: sayCommands() }
  if (word === 'new') return { kind: 'topic' }
  if (word === 'reset') return { kind: 'reset', ...(rest === undefined ? {} : { message: rest.trim() }) }
  if (word === 'stop' && rest === undefined) return { kind: 'stop' }
  if (word === 'stop') return { kind: 'answer', text: `Nothing was stopped: ${OWN.stop} ${TO_SAY_IT}` }
  const elsewhere = OF_TERMINAL[word]
  if (elsewhere !== undefined) return { kind: 'answer', text: elsewhere }
  const names = [...Object.keys(OWN), ...known, ...Object.keys(OF_TERMINAL), ...WITHOUT_MODEL]
  // The slash counts as a letter, so that short words are corrected too.
  const near = WITHOUT_MODEL.includes(word)
    ? []
    : findNearest(`/${word}`, new Set(names.map(name => `/${name}`)))
  if (near.length === 0 && rest !== undefined) return { kind: 'agent' }
  const meant = near.length > 0 ? `Did you mean ${toList(near)}?` : 'There are /help, /stop, /new and /reset.'
  return { kind: 'answer', text: `There is no command /${truncate(given, 40)}. ${meant} ${TO_SAY_IT}` }
}

const TO_SAY_IT = 'To say it to the agent, put a word before the slash.'

function toList(names: readonly string[]): string {
  return names.map(name => `\`${name}\``).join(' or ')
}

function sayCommands(): string {
  const lines = Object.values(OWN).map(line => `- ${line}`)
  return ['Anything else that you write goes to the agent. The commands:', ...lines].join('\n')
}

/** Answers a message with a notice, without an agent. The same `clientId` again does nothing. */
export async function answerByMessage(
  deps: Pick<RuntimeDeps, 'store' | 'clock' | 'newId' | 'signals'>,
  message: NewUserMessage,
  text: string,
): Promise<ChatMessage> {
  const { posted, messages } = await deps.store.write(async tx => {
    const { posted, isNew } = await appendUserMessage(deps, tx, message)
    return { posted, messages: isNew ? [posted, await appendAnswer(deps, tx, posted, text)] : [] }
  })
  for (const each of messages) deps.signals.emit('message', each)
  return posted
}
