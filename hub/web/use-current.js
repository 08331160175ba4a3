import { useEffect, useState } from 'preact/hooks'
import { conversationInAddress, read, showInAddress, write } from './address.js'

const LAST = 'superbloom.conversation'

/**
 * Returns the shown conversation (the address's, else the last one, else the first) and a function that opens
 * another, which the back button undoes.
 * @param {import('./types.d.ts').ChatState} chat
 * @param {{open: (id: string) => void}} session
 * @returns {[string | null, (id: string) => void]}
 */
export function useCurrent(chat, session) {
  const [wanted, setWanted] = useState(() => conversationInAddress() ?? read(LAST))
  const current = chat.hub ? pick(chat, wanted) : null

  useEffect(() => {
    const onStep = () => setWanted(conversationInAddress() ?? read(LAST))
    addEventListener('popstate', onStep)
    addEventListener('hashchange', onStep)
    return () => {
      removeEventListener('popstate', onStep)
      removeEventListener('hashchange', onStep)
    }
  }, [])

  useEffect(() => {
    if (current === null) return
    session.open(current)
    showInAddress(current, false)
    write(LAST, current)
  }, [current, session])

  const open = (/** @type {string} */ id) => {
    showInAddress(id, true)
    setWanted(id)
  }
  return [current, open]
}

/** @param {import('./types.d.ts').ChatState} chat @param {string | null} wanted */
function pick(chat, wanted) {
  if (wanted && (chat.conversations[wanted] || chat.agents[wanted.split('/')[0]])) return wanted
  const names = Object.keys(chat.agents).filter(name => chat.agents[name].status !== 'retired')
  const first = names.includes('homelab') ? 'homelab' : names.sort()[0]
  if (chat.conversations[first]) return first
  return Object.keys(chat.conversations)[0] ?? null
}
