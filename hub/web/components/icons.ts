import { html } from '../html.ts'

/** Strokes in a box of 20. */
const STROKES: Record<string, string> = {
  send: 'M10 16V4M4.5 9.5 10 4l5.5 5.5',
  menu: 'M3 6h14M3 10h14M3 14h9',
  panel: 'M3 4.5h14v11H3zM12.5 4.5v11',
  close: 'm5 5 10 10M15 5 5 15',
  copy: 'M7 7h9v9H7zM4 13V4h9',
  check: 'm4 10.5 4 4 8-9',
  cross: 'm6 6 8 8M14 6l-8 8',
  clock: 'M10 3a7 7 0 1 1 0 14 7 7 0 0 1 0-14zM10 6.5V10l2.5 2',
  alert: 'M10 3.2 17.5 16.5h-15zM10 8.5v3.5M10 14.2v.2',
  info: 'M10 3a7 7 0 1 1 0 14 7 7 0 0 1 0-14zM10 9.5V14M10 6.4v.2',
  plus: 'M10 4v12M4 10h12',
  chevron: 'm7 4.5 6 5.5-6 5.5',
  down: 'M10 4v12M4.5 10.5 10 16l5.5-5.5',
  sun: 'M10 6.5a3.5 3.5 0 1 1 0 7 3.5 3.5 0 0 1 0-7zM10 1.8v1.6M10 16.6v1.6M1.8 10h1.6M16.6 10h1.6M4.2 4.2l1.1 1.1M14.7 14.7l1.1 1.1M15.8 4.2l-1.1 1.1M5.3 14.7l-1.1 1.1',
  moon: 'M16.5 12.2A7 7 0 0 1 7.8 3.5a7 7 0 1 0 8.7 8.7z',
  key: 'M6.5 6.8a3.2 3.2 0 1 1 0 6.4 3.2 3.2 0 0 1 0-6.4zM9.7 10h7.6v2.6M14.2 10v2.2',
  refresh: 'M16 6.5A7 7 0 1 0 17 10M16.5 3v4h-4',
  question: 'M7.5 7.5a2.5 2.5 0 1 1 3.6 2.3c-.8.4-1.1.9-1.1 1.9M10 14.4v.2',
  hand: 'M6 10V5.200a1.2 1.2 0 0 1 2.4 0V9.500M8.4 9.500V4a1.2 1.2 0 0 1 2.4 0v5.500M10.8 9.500V5a1.2 1.2 0 0 1 2.4 0V11M13.2 8.500a1.2 1.2 0 0 1 2.3.600v3.400a5 5 0 0 1-5 5H10a5 5 0 0 1-4.1-2.100L3.7 12a1.2 1.2 0 0 1 1.9-1.400L6 11',
  pin: 'M7 3h6l-1 5 2.5 3h-9L8 8zM10 11v6',
  edit: 'M4 16l.8-3.6L13.500 3.700l2.800 2.800-8.700 8.700zM11.600 5.600l2.800 2.800',
  skip: 'm5 5 6 5-6 5zM14.5 5v10',
  stop: 'M6 6h8v8H6z',
  clip: 'M14.500 6.500v7a4.500 4.500 0 0 1-9 0v-8a3 3 0 0 1 6 0v7.500a1.500 1.500 0 0 1-3 0v-6.500',
  file: 'M5 3h6.500L15 6.500V17H5zM11 3v4h4',
  search: 'M9 3.500a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11zM13 13l4 4',
  back: 'm12.5 4.5-6 5.5 6 5.5',
  settings:
    'M3 6h7M14 6h3M3 14h3M10 14h7M12 4a2 2 0 1 1 0 4 2 2 0 0 1 0-4zM8 12a2 2 0 1 1 0 4 2 2 0 0 1 0-4z',
  house: 'M3 9.500 10 3.500l7 6M5 8.500v8h10v-8M8.500 16.500v-4.500h3v4.500',
  dots: 'M5 10h.1M10 10h.1M15 10h.1',
}

/** Draws an icon beside words, or as a whole labelled button. */
export function Icon({ name }: { name: string }) {
  return html`<svg class="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false"><path d=${STROKES[name]} /></svg>`
}
