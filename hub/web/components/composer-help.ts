import { html } from '../html.ts'

const COMMANDS = [
  { name: '/help', rest: '', says: 'shows the commands' },
  { name: '/stop', rest: '', says: 'ends what the agent does right now, at the next boundary' },
  {
    name: '/new',
    rest: ' topic',
    says: 'sums up what was said so far, in all its conversations, and begins with the topic',
  },
  {
    name: '/reset',
    rest: ' [note]',
    says: 'starts its memory fresh, in all its conversations; the note tells it why',
  },
]

/** Returns the commands that a text beginning with `/` may mean. */
export function commandsFor(text: string) {
  if (!text.startsWith('/')) return []
  const word = text.split(/\s/)[0]
  return COMMANDS.filter(({ name, rest }) =>
    text === word ? name.startsWith(word) : name === word && rest !== '',
  )
}

type ComposerHintProps = { text: string; isTooLong: boolean; isBusy: boolean; onPick: (text: string) => void }

/** Shows the line below the message box. */
export function ComposerHint({ text, isTooLong, isBusy, onPick }: ComposerHintProps) {
  const commands = commandsFor(text)
  if (isTooLong)
    return html`<p id="composer-hint" class="hint hint-bad">This is longer than one message can be.</p>`
  if (commands.length > 0) {
    return html`<ul id="composer-hint" class="commands">
      ${commands.map(
        ({ name, rest, says }) =>
          html`<li key=${name}><button type="button" class="quiet" onClick=${() => onPick(rest ? `${name} ` : name)}><code>${name}${rest}</code></button> ${says}</li>`,
      )}
    </ul>`
  }
  return html`<p id="composer-hint" class="hint">
    <kbd>Enter</kbd> sends, <kbd>Shift</kbd> <kbd>Enter</kbd> begins a new line, ${isBusy ? html`<kbd>Esc</kbd> stops the agent` : html`<kbd>/</kbd> jumps here`}
  </p>`
}
