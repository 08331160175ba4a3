import type { RefObject } from 'preact'
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { read, write } from '../address.ts'
import { ownName } from '../conversation-store.ts'
import { useMedia, useStore } from '../hooks.ts'
import { classes, html } from '../html.ts'
import type { Mcp } from '../mcp.ts'
import type { PanelData } from '../panel-data.ts'
import type { Session } from '../session.ts'
import type { Store } from '../store.ts'
import { useCurrent } from '../use-current.ts'
import { usePlace } from '../use-place.ts'
import { usePresence } from '../use-presence.ts'
import { useReadMarks } from '../use-read-marks.ts'
import { useShortcuts } from '../use-shortcuts.ts'
import { newConversationId } from '../words.ts'
import { Chat } from './chat.ts'
import { Welcome } from './gate.ts'
import { Panel } from './panel.ts'
import { PlaceView } from './place-view.ts'
import { Sheet } from './sheet.ts'
import { Sidebar } from './sidebar.ts'

const PANEL = 'superbloom.panel'

interface ShellProps {
  session: Session
  mcp: Mcp
  news: Store<number>
  panel: PanelData
  onForget: () => void
}

/**
 * The page behind the gate: conversations, chat, and the hub's panel; they are side by side where there is
 * room.
 */
export function Shell({ session, mcp, news, panel, onForget }: ShellProps) {
  const chat = useStore(session.chat)
  const link = useStore(session.link)
  const wide = useMedia('(min-width: 60rem)')
  const roomy = useMedia('(min-width: 78rem)')
  const [navOpen, setNavOpen] = useState(false)
  const [sought, setSought] = useState<{ id: string; seq: number } | null>(null)
  const { panelOpen: wantsPanel, showPanel, marked, show } = usePanel(panel, roomy)
  // What the hub does is the owner's to see.
  const isOwner = chat.role === 'owner'
  const panelOpen = isOwner && wantsPanel
  const [current, open] = useCurrent(chat, session)
  const [found, openPlace] = usePlace()
  const shown = isOwner ? found : null
  const looked = shown ? null : current
  const unread = useReadMarks(chat, looked)
  usePresence(session, link, looked)
  const composer = useRef<HTMLTextAreaElement>(null)

  useShortcuts(composer, () => (panelOpen ? showPanel(false) : undefined))
  const isConnected = chat.hub !== null
  useFocusBack(panelOpen, 'panel-toggle')
  // The button that closed the place is gone.
  useFocusBack(shown !== null, 'panel-toggle')
  const path = shown && `${shown.place.id}/${shown.section.id}`
  // The panel lies over the place where there is no room beside it.
  useEffect(() => {
    if (path && !roomy) showPanel(false)
  }, [path])
  const isBegun = useRef(false)
  useEffect(() => {
    if (isBegun.current) composer.current?.focus()
    isBegun.current = false
  }, [current])
  useEffect(() => panel.show(panelOpen && isConnected), [panel, panelOpen, isConnected])

  if (!chat.hub || !current) return html`<${Welcome} chat=${chat} link=${link} onForget=${onForget} />`

  const visit = (path: string | null) => {
    setNavOpen(false)
    openPlace(path)
  }
  const choose = (id: string) => {
    visit(null)
    open(id)
  }
  const find = (id: string, seq: number) => {
    choose(id)
    setSought({ id, seq })
  }
  const begin = (agent: string) => {
    choose(newConversationId(agent, ownName(chat), Math.random))
    isBegun.current = true
  }
  const sidebar = html`<${Sidebar}
    chat=${chat} changes=${session.conversations} current=${current} unread=${unread}
    onChoose=${choose} onFound=${find} onNew=${begin} onLeave=${open} onForget=${onForget}
    onClose=${wide ? null : () => setNavOpen(false)} place=${shown?.place.id ?? null} onPlace=${visit} />`
  const onNav = wide ? null : () => setNavOpen(true)
  const onAudit = () => {
    panel.choose('audit')
    showPanel(true)
  }
  const main = shown
    ? html`<${PlaceView} ...${shown} parts=${{ mcp, chat, session, news, onAudit }} onOpen=${visit} onClose=${() => choose(current)} onNav=${onNav} onApprovals=${() => show(undefined)} />`
    : html`<${Chat} key=${current} id=${current} session=${session} chat=${chat} link=${link} composer=${composer} sought=${sought?.id === current ? sought : null}
      panelOpen=${panelOpen} onShow=${show} onPanel=${isOwner ? () => showPanel(!panelOpen) : null} onNav=${onNav}
      hasUnread=${Object.keys(unread).some(id => id !== current)} />`
  const hubPanel = html`<${Panel} panel=${panel} chat=${chat} session=${session} marked=${marked} onClose=${() => showPanel(false)} />`

  return html`<div class=${classes('shell', wide && 'with-nav', roomy && panelOpen && 'with-panel')}>
    ${!shown && html`<a class="skip" href="#composer" onClick=${skipTo(composer)}>Skip to the message box</a>`}
    ${wide && html`<div class="nav-column">${sidebar}</div>`}
    ${main}
    ${roomy && panelOpen && html`<aside class="panel-column" aria-label="The hub">${hubPanel}</aside>`}
    ${!wide && navOpen && html`<${Sheet} label="Conversations" side="start" onClose=${() => setNavOpen(false)}>${sidebar}<//>`}
    ${!roomy && panelOpen && html`<${Sheet} label="The hub" side="end" onClose=${() => showPanel(false)}>${hubPanel}<//>`}
  </div>`
}

/** Returns whether the panel is open, the dead letter to show in it, and functions that change both. */
function usePanel(panel: PanelData, roomy: boolean) {
  const [panelOpen, setPanelOpen] = useState(false)
  // A tablet that is turned must not find the panel over everything.
  useLayoutEffect(() => setPanelOpen(roomy && read(PANEL) !== 'closed'), [roomy])
  const [marked, setMarked] = useState<{ id: string } | null>(null)
  const showPanel = (shown: boolean) => {
    setPanelOpen(shown)
    if (roomy) write(PANEL, shown ? null : 'closed')
  }
  const show = useCallback(
    (letter: string | undefined) => {
      panel.choose('now')
      setMarked(letter === undefined ? null : { id: letter })
      setPanelOpen(true)
    },
    [panel],
  )
  return { panelOpen, showPanel, marked, show }
}

/** Returns the focus, when its element closes, to the button that opened it. */
function useFocusBack(open: boolean, id: string) {
  const wasOpen = useRef(open)
  useEffect(() => {
    const isLost = wasOpen.current && !open && document.activeElement === document.body
    if (isLost) document.getElementById(id)?.focus()
    wasOpen.current = open
  }, [open, id])
}

function skipTo(target: RefObject<HTMLElement | null>) {
  return (event: Event) => {
    event.preventDefault()
    target.current?.focus()
  }
}
