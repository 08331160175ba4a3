import { read, write } from './address.ts'
import { createStore } from './store.ts'

/** Storage key of the theme, which theme-boot.js also reads before the first paint. */
const KEY = 'superbloom.theme'
const GROUND = { light: '#f3f5ee', dark: '#121712' }

const system = matchMedia('(prefers-color-scheme: dark)')

/** The theme that is shown now: 'light' or 'dark'. */
export const theme = createStore(current())

/** Shows the chosen theme, else the system's, and follows its changes. */
export function startTheme() {
  system.addEventListener('change', apply)
  apply()
}

/** Switches to the other theme. A choice that equals the system's follows the system again. */
export function toggleTheme() {
  const next = theme.get() === 'dark' ? 'light' : 'dark'
  write(KEY, next === systemTheme() ? null : next)
  apply()
}

function systemTheme() {
  return system.matches ? 'dark' : 'light'
}

function current() {
  const chosen = read(KEY)
  return chosen === 'light' || chosen === 'dark' ? chosen : systemTheme()
}

function apply() {
  const name = current()
  document.documentElement.dataset.theme = name
  for (const meta of document.querySelectorAll('meta[name="theme-color"]'))
    meta.setAttribute('content', GROUND[name])
  theme.set(name)
}
