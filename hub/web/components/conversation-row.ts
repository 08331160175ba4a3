import { useRef, useState } from 'preact/hooks'
import type { MAX_TITLE } from '../../../schemas/chat.ts'
import type { Conversation } from '../conversation.ts'
import { html, typedIn } from '../html.ts'
import type { Session } from '../session.ts'
import { Icon } from './icons.ts'

/** Most characters of a title that the hub takes. */
const LONGEST: typeof MAX_TITLE = 80

interface ConversationRowProps {
  conversation: Conversation
  title: string
  isCurrent: boolean
  isUnread: boolean
  changes: Session['conversations']
  onChoose: (id: string) => void
  /** Whether the person may rename and pin it. */
  mayChange: boolean
  /** Null for people who may not delete. */
  onDelete: ((id: string) => void) | null
}

/** Shows a conversation in the list, with a button that opens what can be done with it. */
export function ConversationRow(props: ConversationRowProps) {
  const { conversation, title, isCurrent, isUnread, onChoose, mayChange, onDelete } = props
  const { id, pinned, lastSeq } = conversation
  const [open, setOpen] = useState<'no' | 'acts' | 'name'>('no')
  const acts = onDelete ? 'Rename, pin or delete' : 'Rename or pin'
  const more = useRef<HTMLButtonElement>(null)
  const close = () => {
    setOpen('no')
    more.current?.focus()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || open === 'no') return
    event.preventDefault()
    event.stopPropagation()
    close()
  }
  return html`<li class="conversation-row" onKeyDown=${onKeyDown}>
    <button type="button" class="conversation" aria-current=${isCurrent ? 'page' : undefined} onClick=${() => onChoose(id)}>
      ${pinned && html`<span class="pinned"><${Icon} name="pin" /><span class="visually-hidden">Pinned: </span></span>`}
      <span class="conversation-name" dir="auto">${title}</span>
      ${isUnread && html`<span class="unread"><span class="visually-hidden">, new messages</span></span>`}
    </button>
    ${
      lastSeq > 0 &&
      mayChange &&
      html`<button type="button" ref=${more} class="quiet square" aria-label=${`${acts}: ${title}`} title=${acts}
        aria-expanded=${open === 'no' ? 'false' : 'true'} onClick=${() => setOpen(open === 'no' ? 'acts' : 'no')}><${Icon} name="dots" /></button>`
    }
    ${open === 'acts' && html`<${Acts} ...${props} onRename=${() => setOpen('name')} onDone=${close} />`}
    ${open === 'name' && html`<${NameForm} ...${props} onDone=${close} />`}
  </li>`
}

type ActsProps = ConversationRowProps & { onRename: () => void; onDone: () => void }

function Acts({ conversation: { id, pinned }, changes, onDelete, onRename, onDone }: ActsProps) {
  const pin = () => {
    void changes.change(id, { pinned: !pinned })
    onDone()
  }
  return html`<div class="conversation-acts">
    <button type="button" class="quiet" onClick=${onRename}>Rename</button>
    <button type="button" class="quiet" onClick=${pin}>${pinned ? 'Unpin' : 'Pin'}</button>
    ${onDelete && html`<button type="button" class="quiet" onClick=${() => onDelete(id)}>Delete</button>`}
  </div>`
}

function NameForm({ conversation, title, changes, onDone }: ConversationRowProps & { onDone: () => void }) {
  const [name, setName] = useState(title)
  const submit = (event: Event) => {
    event.preventDefault()
    void changes.change(conversation.id, { title: name.trim() })
    onDone()
  }
  return html`<form class="name-form" onSubmit=${submit}>
    <input aria-label="Title of the conversation" dir="auto" maxlength=${LONGEST} value=${name}
      ref=${focusOnce} onInput=${(event: Event) => setName(typedIn(event))} />
    <button type="submit" class="quiet square" aria-label="Save the title"><${Icon} name="check" /></button>
    <button type="button" class="quiet square" aria-label="Cancel" onClick=${onDone}><${Icon} name="cross" /></button>
  </form>`
}

function focusOnce(element: HTMLInputElement | null) {
  if (element && document.activeElement !== element) element.select()
}
