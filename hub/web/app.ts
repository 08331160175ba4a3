import { render } from 'preact'
import { App } from './components/app-root.ts'
import { hasDrafts } from './components/composer.ts'
import { html } from './html.ts'
import { keepOffline } from './offline.ts'
import { startTheme } from './theme.ts'

startTheme()
followViewport()
keepOffline(isWriting)
const root = document.getElementById('app')
if (root) {
  root.replaceChildren()
  render(html`<${App} />`, root)
}

/** Tells whether a person has written what is not sent yet. */
function isWriting() {
  const fields = [...document.querySelectorAll<HTMLInputElement>('input, textarea')]
  return hasDrafts() || fields.some(({ value }) => value !== '')
}

/**
 * Shrinks the page where an on-screen keyboard covers it instead of shrinking it (iOS): `--height` is the
 * visible part. It does nothing elsewhere.
 */
function followViewport() {
  const view = window.visualViewport
  if (!view) return
  const fit = () => {
    const isCovered = view.scale === 1 && window.innerHeight - view.height > 80
    const style = document.documentElement.style
    if (isCovered) style.setProperty('--height', `${view.height}px`)
    else style.removeProperty('--height')
    if (isCovered) window.scrollTo(0, 0)
  }
  view.addEventListener('resize', fit)
}
