import { useEffect, useState } from 'preact/hooks'
import { read, write } from './address.js'

const MARKS = 'superbloom.read'

/**
 * Returns the conversations with unread messages. This browser stores how far each was read; one that it
 * never saw counts as read, else a new browser would begin with everything unread.
 * @param {import('./types.d.ts').ChatState} chat @param {string | null} current
 * @returns {Record<string, true>}
 */
export function useReadMarks(chat, current) {
  const [marks, setMarks] = useState(load)
  const visible = useVisible()

  useEffect(() => {
    const next = advance(marks, chat, visible ? current : null)
    if (next === marks) return
    write(MARKS, JSON.stringify(next))
    setMarks(next)
  }, [chat, current, visible])

  const unread = Object.values(chat.conversations).filter(c => c.lastSeq > (marks[c.id] ?? c.lastSeq))
  useEffect(() => {
    const name = current ? `${current} · Superbloom` : 'Superbloom'
    document.title = unread.length > 0 ? `(${unread.length}) ${name}` : name
  }, [current, unread.length])
  return Object.fromEntries(unread.map(c => [c.id, true]))
}

/** @param {Record<string, number>} marks @param {import('./types.d.ts').ChatState} chat @param {string | null} looked */
function advance(marks, chat, looked) {
  if (!chat.hub) return marks
  const changed = Object.values(chat.conversations).filter(
    c => marks[c.id] === undefined || marks[c.id] > c.lastSeq || (c.id === looked && marks[c.id] < c.lastSeq),
  )
  if (changed.length === 0) return marks
  return { ...marks, ...Object.fromEntries(changed.map(c => [c.id, c.lastSeq])) }
}

/** @returns {Record<string, number>} */
function load() {
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
