import { storedSession } from './address.ts'

/** Signs in on the page that asks for consent with the session of this browser, if it has one. */
const field = document.querySelector<HTMLInputElement>('input[name=token]')
const session = storedSession.get()
if (field && session) {
  field.value = session
  field.labels?.forEach(label => {
    label.hidden = true
  })
}
