import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Approval } from '../../../schemas/chat.ts'
import { type Decision, mayDecide } from '../approvals.ts'
import { type Conversation, isCaughtUp, type Message, type Pending } from '../conversation.ts'
import { type Agent, type ChatState, mainOf } from '../conversation-store.ts'
import { html, memo } from '../html.ts'
import { around, atEnd, drawn, earlier, follow, hasEarlier, later, WHOLE, within } from '../log-window.ts'
import { hasOthers, type Row as LogRow, toRows } from '../rows.ts'
import type { Session } from '../session.ts'
import { count, dayName } from '../time.ts'
import { useStickToEnd } from '../use-stick-to-end.ts'
import { ApprovalCard } from './approval-card.ts'
import { cardId } from './banners.ts'
import { EmptyState } from './empty-state.ts'
import { Icon } from './icons.ts'
import { LiveCycles } from './live-cycle.ts'
import { MessageRow, PendingRow } from './message-row.ts'
import { AskedTool, ToolGroup } from './tool-group.ts'

/** A message that the reader is led to. */
export type Sought = { seq: number }

interface MessageLogProps {
  conversation: Conversation
  agents: Agent[]
  chat: ChatState
  session: Session
  sought: Sought | null
  onSuggest: (text: string) => void
  onEdit: (text: string) => void
  onLetter: (id: string) => void
}

/** Shows the messages of one conversation, as a window over the loaded ones. */
export function MessageLog(props: MessageLogProps) {
  const { conversation, agents, chat, session, sought, onSuggest, onEdit, onLetter } = props
  const { id, messages, pending, live } = conversation
  const log = useLogWindow(conversation, session)
  useSought(sought, conversation, log)
  const isEmpty = isUntouched(conversation)
  return html`<div class="log-frame">
    <div class="scroller" ref=${log.scroll.ref} onScroll=${log.scroll.onScroll} tabindex="0" role="region" aria-label="Messages">
      <div class="log-column">
        ${isEmpty && html`<${EmptyState} agents=${agents} isMain=${id === mainOf(chat, agents[0]?.name ?? '')} mayReset=${chat.role !== 'guest'} isFirst=${chat.role === 'owner' && Object.values(chat.conversations).every(one => one.id === id || one.lastSeq === 0)} onSuggest=${onSuggest} />`}
        ${log.mayHaveEarlier && html`<${MoreButton} onClick=${log.showEarlier} busy=${log.loading} words="Load earlier messages" />`}
        <${Rows} id=${id} reader=${chat.person} role=${chat.role} messages=${log.shown} isNews=${log.isWhole && !log.loading && isCaughtUp(conversation)}
          approvals=${chat.approvals} deciding=${chat.deciding} records=${chat.role === 'owner' ? session.conversations : null} onSave=${session.files.save} onEdit=${onEdit} onDecide=${session.decide} onLetter=${onLetter} />
        ${!log.isWhole && html`<${MoreButton} onClick=${log.showLater} words="Show later messages" />`}
        ${log.isWhole && html`<${LiveCycles} live=${live} agents=${agents} waiting=${isAnswerDue(messages, pending)} />`}
        ${
          log.isWhole &&
          pending.map(
            one => html`<${PendingRow} key=${one.clientId} pending=${one}
              onRetry=${() => session.retry(one)} onDiscard=${() => session.discard(one)} />`,
          )
        }
      </div>
    </div>
    ${!log.atEnd && html`<${JumpButton} messages=${messages} leftAt=${log.leftAt} onClick=${log.jump} />`}
  </div>`
}

/** Returns the messages that are drawn, and the reader's position among them. */
function useLogWindow({ id, messages, pending, base }: Conversation, session: Session) {
  const [range, setRange] = useState(WHOLE)
  const [loading, setLoading] = useState(false)
  const isWhole = range.to === null
  const scroll = useStickToEnd(isWhole)
  const shown = useMemo(() => drawn(messages, range), [messages, range])
  const leftAt = useRef(0)
  const waiting = useRef(pending.length)
  if (scroll.atEnd && isWhole) leftAt.current = messages[messages.length - 1]?.seq ?? 0

  useLayoutEffect(() => {
    setRange(before => {
      const range = within(messages, before)
      return scroll.isAtEnd() ? follow(messages, range) : range
    })
  }, [messages])
  useLayoutEffect(() => {
    if (pending.length > waiting.current) jump()
    waiting.current = pending.length
  }, [pending.length])

  async function showEarlier() {
    if (!hasEarlier(messages, range)) {
      setLoading(true)
      await session.loadEarlier(id)
      setLoading(false)
    }
    const all = session.chat.get().conversations[id]?.messages ?? messages
    setRange(earlier(all, { ...range, from: shown[0]?.seq ?? 0 }))
  }
  async function showMessage(seq: number) {
    if (seq <= base) await session.loadEarlier(id, seq)
    setRange(around(session.chat.get().conversations[id]?.messages ?? messages, seq))
  }
  function jump() {
    setRange(atEnd(messages))
    scroll.toEnd()
  }
  return {
    scroll,
    shown,
    isWhole,
    loading,
    showEarlier,
    showMessage,
    jump,
    showLater: () => setRange(later(messages, range)),
    mayHaveEarlier: base > 0 || hasEarlier(messages, range),
    atEnd: scroll.atEnd && isWhole,
    leftAt: leftAt.current,
  }
}

/** Leads the reader to a message that was sought, once it is drawn: it gets the focus. */
function useSought(
  sought: Sought | null,
  conversation: Conversation,
  { shown, showMessage }: ReturnType<typeof useLogWindow>,
) {
  const isReady = isCaughtUp(conversation)
  const [led, setLed] = useState<Sought | null>(null)
  useEffect(() => {
    if (sought && isReady) void showMessage(sought.seq).then(() => setLed(sought))
  }, [sought, isReady])
  useEffect(() => {
    const row = led && document.querySelector<HTMLElement>(`[data-seq="${led.seq}"]`)
    if (!row) return
    setLed(null)
    row.scrollIntoView({ block: 'center' })
    row.tabIndex = -1
    row.addEventListener('blur', () => row.removeAttribute('tabindex'), { once: true })
    row.focus({ preventScroll: true })
  }, [led, shown])
}

/** Tells whether nobody has written yet; events may have made the agent speak. */
function isUntouched(conversation: Conversation) {
  const { base, messages, pending } = conversation
  const isBegun = base + pending.length > 0 || messages.some(({ kind }) => kind === 'user')
  return isCaughtUp(conversation) && !isBegun
}

/** Tells whether the last question is unanswered. */
function isAnswerDue(messages: Message[], pending: Pending[]) {
  const last = messages.findLast(message => message.kind !== 'tool' && message.kind !== 'notice')
  return pending.length > 0 || last?.kind === 'user'
}

/** The properties that all rows get. */
interface Shared {
  /** Name of whoever is signed in. */
  reader: string | null
  role: ChatState['role']
  approvals: Record<string, Approval>
  deciding: Record<string, Decision>
  records: Session['conversations'] | null
  onSave: Session['files']['save']
  onEdit: (text: string) => void
  onDecide: Session['decide']
  onLetter: (id: string) => void
}

interface RowsProps extends Shared {
  id: string
  messages: Message[]
  /** Additions are read out. */
  isNews: boolean
}

const Rows = memo(({ id, messages, isNews, ...shared }: RowsProps) => {
  const rows = useMemo(() => toRows(messages), [messages])
  const showPerson = useMemo(() => hasOthers(messages, shared.reader), [messages, shared.reader])
  const lastSeq = messages[messages.length - 1]?.seq
  return html`<div class="log" role="log" aria-label=${`Conversation ${id}`} aria-live=${isNews ? 'polite' : 'off'} aria-relevant="additions">
    ${rows.map(row => html`<${Row} key=${row.key} row=${row} showPerson=${showPerson} lastSeq=${lastSeq} ...${shared} />`)}
  </div>`
})

interface RowProps extends Shared {
  row: LogRow
  showPerson: boolean
  lastSeq: number | undefined
}

function Row(props: RowProps) {
  if (props.row.type === 'day')
    return html`<p class="day"><span>${dayName(props.row.at, Date.now())}</span></p>`
  const seq = props.row.type === 'message' ? props.row.message.seq : undefined
  return html`<div class="row" data-row data-seq=${seq}>${rowBody(props, props.row)}</div>`
}

function rowBody(props: RowProps, row: Exclude<LogRow, { type: 'day' }>) {
  const {
    reader,
    role,
    showPerson,
    lastSeq,
    approvals,
    deciding,
    records,
    onSave,
    onEdit,
    onDecide,
    onLetter,
  } = props
  const readCall = records?.readCall ?? null
  if (row.type === 'tools') return html`<${ToolGroup} messages=${row.messages} readCall=${readCall} />`
  if (row.type === 'message') {
    const { message, named } = row
    return html`<${MessageRow} message=${message} named=${named} isOwn=${message.author === reader} showPerson=${showPerson} isLast=${message.seq === lastSeq} records=${records} onSave=${onSave} onEdit=${onEdit} onLetter=${onLetter} />`
  }
  const approval = approvals[row.approval]
  // An approval that is unknown here was answered before this page was opened; its outcome is a later row.
  if (!approval) return html`<${AskedTool} message=${row.message} readCall=${readCall} />`
  return html`<${ApprovalCard} id=${cardId(approval.id)} approval=${approval} deciding=${deciding[approval.id]} onDecide=${mayDecide({ role, person: reader }, approval) ? onDecide : null} mayAllow=${role === 'owner'} />`
}

interface MoreButtonProps {
  words: string
  busy?: boolean
  onClick: () => void
}

function MoreButton({ words, busy = false, onClick }: MoreButtonProps) {
  return html`<p class="more">
    <button type="button" class="quiet" aria-disabled=${busy ? 'true' : 'false'} onClick=${busy ? undefined : onClick}>${busy ? 'Loading…' : words}</button>
  </p>`
}

type JumpButtonProps = { messages: Message[]; leftAt: number; onClick: () => void }

function JumpButton({ messages, leftAt, onClick }: JumpButtonProps) {
  const fresh = messages.filter(message => message.seq > leftAt && message.kind !== 'tool').length
  const words = fresh > 0 ? count(fresh, 'new message') : 'Latest'
  return html`<button type="button" class=${fresh > 0 ? 'jump jump-new' : 'jump'} onClick=${onClick}><${Icon} name="down" />${words}</button>`
}
