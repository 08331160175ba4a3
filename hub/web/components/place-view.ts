import type { ComponentType } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { openApprovals } from '../approvals.ts'
import { html } from '../html.ts'
import { reasonOf } from '../mcp.ts'
import type { Place, PlaceSection, SectionProps } from '../places.ts'
import { ApprovalBanner } from './banners.ts'
import { Icon } from './icons.ts'

interface PlaceViewProps {
  place: Place
  section: PlaceSection
  parts: SectionProps
  onOpen: (path: string) => void
  /** Returns to the chat. */
  onClose: () => void
  onNav: (() => void) | null
  /** Shows the approvals that are open. */
  onApprovals: () => void
}

/** Shows a place in the room of the chat: its head, its sections, and the open one. */
export function PlaceView({ place, section, parts, onOpen, onClose, onNav, onApprovals }: PlaceViewProps) {
  const several = place.sections.length > 1
  const sections = useRef<HTMLElement>(null)
  // On a phone not all of them are in sight.
  useEffect(() => {
    sections.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [section])
  return html`<main class="place">
    <header class="top-bar">
      ${
        onNav &&
        html`<button type="button" class="quiet square" aria-label="Conversations" onClick=${onNav}><${Icon} name="menu" /></button>`
      }
      <div class="top-title"><h1>${place.label}</h1></div>
      <button type="button" class="quiet square" aria-label="Back to the chat" title="Back to the chat" onClick=${onClose}><${Icon} name="close" /></button>
    </header>
    ${
      several &&
      html`<nav class="place-sections" ref=${sections} aria-label=${`${place.label}: sections`}>
        ${place.sections.map(
          one => html`<button type="button" key=${one.id} class="tab" aria-current=${one.id === section.id ? 'page' : undefined}
            onClick=${() => onOpen(`${place.id}/${one.id}`)}>${one.label}</button>`,
        )}
      </nav>`
    }
    <div class="place-body" key=${section.id} role="group" aria-label=${section.label} tabindex="0"><h2 class="visually-hidden">${section.label}</h2><${LoadedSection} section=${section} parts=${parts} /></div>
    <div class="foot"><${ApprovalBanner} open=${openApprovals(parts.chat.approvals)} onList=${onApprovals} /></div>
  </main>`
}

type Loaded = { view: ComponentType<SectionProps> } | { error: string } | null

function LoadedSection({ section, parts }: { section: PlaceSection; parts: SectionProps }) {
  const [loaded, setLoaded] = useState<Loaded>(null)
  useEffect(() => {
    let isGone = false
    const put = (next: Loaded) => {
      if (!isGone) setLoaded(next)
    }
    section.load().then(
      view => put({ view }),
      error => put({ error: reasonOf(error) }),
    )
    return () => {
      isGone = true
    }
  }, [section])
  if (loaded === null) return html`<p class="panel-none">Loading…</p>`
  if ('error' in loaded) {
    return html`<p class="panel-error">This part of the page could not be loaded (${loaded.error}). Reload the page.</p>`
  }
  return html`<${loaded.view} ...${parts} />`
}
