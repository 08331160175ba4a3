/** @import { PanelData, Session } from '../types.d.ts' */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { read, write } from '../address.js'
import { useMedia, useStore } from '../hooks.js'
import { classes, html } from '../html.js'
import { useCurrent } from '../use-current.js'
import { useReadMarks } from '../use-read-marks.js'
import { useShortcuts } from '../use-shortcuts.js'
import { Chat } from './chat.js'
import { Panel } from './panel.js'
import { Sheet } from './sheet.js'
import { Sidebar } from './sidebar.js'
import { Welcome } from './welcome.js'

const PANEL = 'superbloom.panel'

/**
 * The page behind the gate: conversations, chat, and the hub's panel; they are side by side where there is
 * room.
 * @param {{session: Session, panel: PanelData, onForget: () => void}} props
 */
export function Shell({ session, panel, onForget }) {
  const chat = useStore(session.chat)
  const link = useStore(session.link)
  const wide = useMedia('(min-width: 60rem)')
  const roomy = useMedia('(min-width: 78rem)')
  const [navOpen, setNavOpen] = useState(false)
  const { panelOpen, showPanel, marked, show } = usePanel(panel, roomy)
  const [current, open] = useCurrent(chat, session)
  const unread = useReadMarks(chat, current)
  const composer = useRef(/** @type {HTMLTextAreaElement | null} */ (null))

  useShortcuts({ composer, onEscape: () => (panelOpen ? showPanel(false) : undefined) })
  const isConnected = chat.hub !== null
  useFocusBack(panelOpen, 'panel-toggle')
  useEffect(() => panel.show(panelOpen && isConnected), [panel, panelOpen, isConnected])

  if (!chat.hub || !current) return html`<${Welcome} chat=${chat} link=${link} onForget=${onForget} />`

  const choose = (/** @type {string} */ id) => {
    setNavOpen(false)
    open(id)
  }
  const sidebar = html`<${Sidebar}
    chat=${chat} current=${current} unread=${unread} onChoose=${choose} onForget=${onForget}
    onClose=${wide ? null : () => setNavOpen(false)} />`
  const hubPanel = html`<${Panel} panel=${panel} chat=${chat} session=${session} marked=${marked} onClose=${() => showPanel(false)} />`

  return html`<div class=${classes('shell', wide && 'with-nav', roomy && panelOpen && 'with-panel')}>
    <a class="skip" href="#composer" onClick=${skipTo(composer)}>Skip to the message box</a>
    ${wide && html`<div class="nav-column">${sidebar}</div>`}
    <${Chat} key=${current} id=${current} session=${session} chat=${chat} link=${link} composer=${composer}
      panelOpen=${panelOpen} onShow=${show} onPanel=${() => showPanel(!panelOpen)} onNav=${wide ? null : () => setNavOpen(true)}
      hasUnread=${Object.keys(unread).some(id => id !== current)} />
    ${roomy && panelOpen && html`<aside class="panel-column" aria-label="The hub">${hubPanel}</aside>`}
    ${!wide && navOpen && html`<${Sheet} label="Conversations" side="start" onClose=${() => setNavOpen(false)}>${sidebar}<//>`}
    ${!roomy && panelOpen && html`<${Sheet} label="The hub" side="end" onClose=${() => showPanel(false)}>${hubPanel}<//>`}
  </div>`
}

/**
 * Returns whether the panel is open, the dead letter to show in it, and functions that change both.
 * @param {PanelData} panel @param {boolean} roomy
 */
function usePanel(panel, roomy) {
  const [panelOpen, setPanelOpen] = useState(() => roomy && read(PANEL) !== 'closed')
  const [marked, setMarked] = useState(/** @type {{id: string} | null} */ (null))
  const showPanel = (/** @type {boolean} */ shown) => {
    setPanelOpen(shown)
    if (roomy) write(PANEL, shown ? null : 'closed')
  }
  const show = useCallback(
    (/** @type {string | undefined} */ letter) => {
      panel.choose('now')
      setMarked(letter === undefined ? null : { id: letter })
      setPanelOpen(true)
    },
    [panel],
  )
  return { panelOpen, showPanel, marked, show }
}

/**
 * Returns the focus, when its element closes, to the button that opened it.
 * @param {boolean} open @param {string} id
 */
function useFocusBack(open, id) {
  const wasOpen = useRef(open)
  useEffect(() => {
    const isLost = wasOpen.current && !open && document.activeElement === document.body
    if (isLost) document.getElementById(id)?.focus()
    wasOpen.current = open
  }, [open, id])
}

/** @param {{current: HTMLElement | null}} target */
function skipTo(target) {
  return (/** @type {Event} */ event) => {
    event.preventDefault()
    target.current?.focus()
  }
}
