import { useEffect, useState } from 'preact/hooks'
import { read, write } from './address.ts'
import type { Conversation } from './conversation.ts'
import type { ChatState } from './conversation-store.ts'
import { conversationTitle } from './words.ts'

const MARKS = 'superbloom.read'

/**
 * Returns the conversations with unread messages. This browser stores how far each was read; one that it
 * never saw counts as read, else a new browser would begin with everything unread.
 */
export function useReadMarks(chat: ChatState, current: string | null): Record<string, true> {
  const [marks, setMarks] = useState(load)
  const visible = useVisible()

  useEffect(() => {
    const next = advance(marks, chat, visible ? current : null)
    if (next === marks) return
    write(MARKS, JSON.stringify(next))
    setMarks(next)
  }, [chat, current, visible])

  const unread = Object.values(chat.conversations).filter(c => c.lastSeq > (marks[c.id] ?? firstMark(c)))
  const shown = current === null ? undefined : chat.conversations[current]
  const title = shown && conversationTitle(shown)
  useEffect(() => {
    const name = title ? `${title} · Superbloom` : 'Superbloom'
    document.title = unread.length > 0 ? `(${unread.length}) ${name}` : name
  }, [title, unread.length])
  return Object.fromEntries(unread.map(c => [c.id, true]))
}

function advance(marks: Record<string, number>, chat: ChatState, looked: string | null) {
  if (!chat.hub) return marks
  const changed = Object.values(chat.conversations).flatMap(c => {
    const mark = c.id === looked ? c.lastSeq : Math.min(marks[c.id] ?? firstMark(c), c.lastSeq)
    return mark === marks[c.id] ? [] : [[c.id, mark]]
  })
  return changed.length === 0 ? marks : { ...marks, ...Object.fromEntries(changed) }
}

/** Returns how far a conversation without a mark counts as read: up to where it was when the page met it. */
function firstMark({ opened, base, lastSeq }: Conversation) {
  return opened ? lastSeq : base
}

function load(): Record<string, number> {
  try {
    return JSON.parse(read(MARKS) ?? '{}')
  } catch {
    return {}
  }
}

function useVisible() {
  const [visible, setVisible] = useState(document.visibilityState === 'visible')
  useEffect(() => {
    const update = () => setVisible(document.visibilityState === 'visible')
    document.addEventListener('visibilitychange', update)
    return () => document.removeEventListener('visibilitychange', update)
  }, [])
  return visible
}
