import { read, write } from './address.js'
import { createStore } from './store.js'

/** Read by theme-boot.js as well, before anything is drawn. */
const KEY = 'superbloom.theme'
const GROUND = { light: '#f3f5ee', dark: '#121712' }

const system = matchMedia('(prefers-color-scheme: dark)')

/** 'light' or 'dark', as it is shown now. */
export const theme = createStore(current())

/** Shows the chosen theme, else the system's, and follows it. */
export function startTheme() {
  system.addEventListener('change', apply)
  apply()
}

/** The other one from now on; what equals the system's follows the system again. */
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
