import { useEffect, useState } from 'preact/hooks'
import { conversationInAddress, placeInAddress, read, showInAddress, write } from './address.ts'
import { agentOf, type ChatState, isTheirs, mainOf } from './conversation-store.ts'

const LAST = 'superbloom.conversation'

/**
 * Returns the shown conversation (the address's, else the last one, else the first) and a function that opens
 * another, which the back button undoes.
 */
export function useCurrent(
  chat: ChatState,
  session: { open: (id: string) => void },
): [string | null, (id: string) => void] {
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
    if (placeInAddress() === null) showInAddress(current, false)
    write(LAST, current)
  }, [current, session])

  const open = (id: string) => {
    showInAddress(id, true)
    setWanted(id)
  }
  return [current, open]
}

function pick(chat: ChatState, wanted: string | null) {
  if (wanted && (chat.conversations[wanted] || (chat.agents[agentOf(wanted)] && isTheirs(chat, wanted))))
    return wanted
  const names = Object.keys(chat.agents).filter(name => chat.agents[name]?.status !== 'retired')
  const first = names.includes('homelab') ? 'homelab' : names.sort()[0]
  const main = first === undefined ? undefined : mainOf(chat, first)
  if (main !== undefined && chat.conversations[main]) return main
  return Object.keys(chat.conversations)[0] ?? null
}
