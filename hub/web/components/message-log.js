/** @import { Agent, Approval, ChatState, Conversation, Decision, Message, Pending, Row as LogRow, Session } from '../types.d.ts' */
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { isCaughtUp } from '../conversation.js'
import { html, memo } from '../html.js'
import { atEnd, drawn, earlier, follow, hasEarlier, later, WHOLE, within } from '../log-window.js'
import { hasManyPeople, toRows } from '../rows.js'
import { count, dayName } from '../time.js'
import { useStickToEnd } from '../use-stick-to-end.js'
import { cardId } from './approval-banner.js'
import { ApprovalCard } from './approval-card.js'
import { EmptyState } from './empty-state.js'
import { Icon } from './icons.js'
import { LiveCycles } from './live-cycle.js'
import { MessageRow, PendingRow } from './message-row.js'
import { AskedTool, ToolGroup } from './tool-group.js'

/**
 * Shows the messages of one conversation, as a window over the loaded ones.
 * @param {{conversation: Conversation, agents: Agent[], chat: ChatState, session: Session, onSuggest: (text: string) => void, onLetter: (id: string) => void}} props
 */
export function MessageLog({ conversation, agents, chat, session, onSuggest, onLetter }) {
  const { id, messages, pending, live } = conversation
  const log = useLogWindow(conversation, session)
  const isEmpty = isUntouched(conversation)
  return html`<div class="log-frame">
    <div class="scroller" ref=${log.scroll.ref} onScroll=${log.scroll.onScroll} tabindex="0" role="region" aria-label="Messages">
      <div class="log-column">
        ${isEmpty && html`<${EmptyState} conversation=${conversation} agents=${agents} onSuggest=${onSuggest} />`}
        ${log.mayHaveEarlier && html`<${MoreButton} onClick=${log.showEarlier} busy=${log.loading} words="Load earlier messages" />`}
        <${Rows} id=${id} messages=${log.shown} isNews=${log.isWhole && !log.loading && isCaughtUp(conversation)}
          approvals=${chat.approvals} deciding=${chat.deciding} onDecide=${session.decide} onLetter=${onLetter} />
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

/**
 * Returns the messages that are drawn, and the reader's position among them.
 * @param {Conversation} conversation @param {Session} session
 */
function useLogWindow({ id, messages, pending, base }, session) {
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
    const all = session.chat.get().conversations[id].messages
    setRange(earlier(all, { ...range, from: shown[0]?.seq ?? 0 }))
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
    jump,
    showLater: () => setRange(later(messages, range)),
    mayHaveEarlier: base > 0 || hasEarlier(messages, range),
    atEnd: scroll.atEnd && isWhole,
    leftAt: leftAt.current,
  }
}

/** Tells whether the conversation has no messages at all. @param {Conversation} conversation */
function isUntouched(conversation) {
  const { base, messages, pending, live } = conversation
  return isCaughtUp(conversation) && base + messages.length + pending.length + live.length === 0
}

/** Tells whether the last question is unanswered. @param {Message[]} messages @param {Pending[]} pending */
function isAnswerDue(messages, pending) {
  const last = messages.findLast(message => message.kind !== 'tool' && message.kind !== 'notice')
  return pending.length > 0 || last?.kind === 'user'
}

/**
 * @typedef {object} Shared properties that all rows get
 * @property {Record<string, Approval>} approvals
 * @property {Record<string, Decision>} deciding
 * @property {Session['decide']} onDecide
 * @property {(id: string) => void} onLetter
 */
/**
 * @typedef {{id: string, messages: Message[], isNews: boolean} & Shared} RowsProps isNews: additions are read out
 */

const Rows = memo((/** @type {RowsProps} */ { id, messages, isNews, ...shared }) => {
  const rows = useMemo(() => toRows(messages), [messages])
  const showPerson = useMemo(() => hasManyPeople(messages), [messages])
  const lastSeq = messages[messages.length - 1]?.seq
  return html`<div class="log" role="log" aria-label=${`Conversation ${id}`} aria-live=${isNews ? 'polite' : 'off'} aria-relevant="additions">
    ${rows.map(row => html`<${Row} key=${row.key} row=${row} showPerson=${showPerson} lastSeq=${lastSeq} ...${shared} />`)}
  </div>`
})

/** @param {{row: LogRow, showPerson: boolean, lastSeq: number} & Shared} props */
function Row({ row, showPerson, lastSeq, ...shared }) {
  if (row.type === 'day') return html`<p class="day"><span>${dayName(row.at, Date.now())}</span></p>`
  return html`<div class="row" data-row>${rowBody(row, showPerson, lastSeq, shared)}</div>`
}

/** @param {Exclude<LogRow, {type: 'day'}>} row @param {boolean} showPerson @param {number} lastSeq @param {Shared} shared */
function rowBody(row, showPerson, lastSeq, { approvals, deciding, onDecide, onLetter }) {
  if (row.type === 'tools') return html`<${ToolGroup} messages=${row.messages} />`
  if (row.type === 'message') {
    const { message, named } = row
    return html`<${MessageRow} message=${message} named=${named} showPerson=${showPerson} isLast=${message.seq === lastSeq} onLetter=${onLetter} />`
  }
  const approval = approvals[row.approval]
  // An approval that is unknown here was answered before this page was opened; its outcome is a later row.
  if (!approval) return html`<${AskedTool} message=${row.message} />`
  return html`<${ApprovalCard} id=${cardId(approval.id)} approval=${approval} deciding=${deciding[approval.id]} onDecide=${onDecide} />`
}

/** @param {{words: string, busy?: boolean, onClick: () => void}} props */
function MoreButton({ words, busy = false, onClick }) {
  return html`<p class="more">
    <button type="button" class="quiet" aria-disabled=${busy ? 'true' : 'false'} onClick=${busy ? undefined : onClick}>${busy ? 'Loading…' : words}</button>
  </p>`
}

/** @param {{messages: Message[], leftAt: number, onClick: () => void}} props */
function JumpButton({ messages, leftAt, onClick }) {
  const fresh = messages.filter(message => message.seq > leftAt && message.kind !== 'tool').length
  const words = fresh > 0 ? count(fresh, 'new message') : 'Latest'
  return html`<button type="button" class=${fresh > 0 ? 'jump jump-new' : 'jump'} onClick=${onClick}><${Icon} name="down" />${words}</button>`
}
