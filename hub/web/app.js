import { render } from 'preact'
import { App } from './components/app-root.js'
import { html } from './html.js'
import { startTheme } from './theme.js'
import { followViewport } from './viewport.js'

startTheme()
followViewport()
const root = document.getElementById('app')
if (root) {
  root.replaceChildren()
  render(html`<${App} />`, root)
}
