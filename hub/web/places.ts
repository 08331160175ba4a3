import type { ComponentType } from 'preact'
import type { ChatState } from './conversation-store.ts'
import type { Mcp } from './mcp.ts'
import type { Session } from './session.ts'
import type { Store } from './store.ts'

/** What each section gets. */
export interface SectionProps {
  mcp: Mcp
  chat: ChatState
  session: Session
  /** A number that grows, at most once a second, after what may change the answers of the hub's tools. */
  news: Store<number>
  /** Opens the audit in the hub's panel. */
  onAudit: () => void
}

export interface PlaceSection {
  id: string
  label: string
  /** Loads the section's code at its first use. */
  load: () => Promise<ComponentType<SectionProps>>
}

export interface Place {
  id: string
  label: string
  icon: string
  sections: readonly PlaceSection[]
}

/** What the owner's page has beside the chat, in the order of the sidebar. Addresses name it `#p=<place>/<section>`. */
export const PLACES: readonly Place[] = [
  {
    id: 'house',
    label: 'House',
    icon: 'house',
    sections: [
      {
        id: 'glance',
        label: 'At a glance',
        load: async () => (await import('./components/house/glance.ts')).Glance,
      },
      {
        id: 'charts',
        label: 'Charts',
        load: async () => (await import('./components/house/charts.ts')).Charts,
      },
      {
        id: 'activity',
        label: 'Activity',
        load: async () => (await import('./components/house/activity.ts')).Activity,
      },
    ],
  },
  {
    id: 'settings',
    label: 'Settings',
    icon: 'settings',
    sections: [
      {
        id: 'setup',
        label: 'Setup',
        load: async () => (await import('./components/settings/setup.ts')).Setup,
      },
      {
        id: 'agents',
        label: 'Agents',
        load: async () => (await import('./components/settings/agents.ts')).Agents,
      },
      {
        id: 'servers',
        label: 'Servers',
        load: async () => (await import('./components/settings/servers.ts')).Servers,
      },
      {
        id: 'rules',
        label: 'Rules',
        load: async () => (await import('./components/settings/rules.ts')).Rules,
      },
      {
        id: 'people',
        label: 'People and tokens',
        load: async () => (await import('./components/settings/people.ts')).People,
      },
      {
        id: 'notifications',
        label: 'Notifications',
        load: async () => (await import('./components/settings/notifications.ts')).Notifications,
      },
      {
        id: 'phone',
        label: 'On your phone',
        load: async () => (await import('./components/settings/phone.ts')).Phone,
      },
      {
        id: 'config',
        label: 'Config in force',
        load: async () => (await import('./components/settings/config-in-force.ts')).ConfigInForce,
      },
    ],
  },
]

/** Returns the place and the section that an address names; a section that does not exist is the first one. */
export function findPlace(path: string | null): { place: Place; section: PlaceSection } | null {
  const [placeId, sectionId] = (path ?? '').split('/')
  const place = PLACES.find(({ id }) => id === placeId)
  const section = place?.sections.find(({ id }) => id === sectionId) ?? place?.sections[0]
  return place && section ? { place, section } : null
}
