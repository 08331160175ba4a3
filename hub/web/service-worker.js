// This worker opens the page where the hub cannot be reached, and shows the hub's notifications. It keeps the page's
// own files and nothing else: what the hub answers never passes through it. The build fills in the files, and a name
// that changes with what they hold; in a checkout there are none.
const { name, files } = self.shell ?? { name: '', files: [] }
const PREFIX = 'superbloom-shell-'
const shell = files.map(file => new URL(file, self.location.href).href)
const [index] = shell
/** Milliseconds: away from home an address of the house does not refuse, it stays silent. */
const SILENT = 5_000

self.addEventListener('install', event => {
  event.waitUntil(keep())
})
self.addEventListener('activate', event => {
  event.waitUntil(self.clients.claim())
})
self.addEventListener('fetch', event => {
  const { request } = event
  const url = new URL(request.url)
  if (request.method !== 'GET') return
  if (request.mode === 'navigate') {
    if (url.origin + url.pathname === index) event.respondWith(open(request))
  } else if (shell.includes(url.href)) event.respondWith(load(request))
})

async function keep() {
  if (files.length === 0) return self.skipWaiting()
  const cache = await caches.open(PREFIX + name)
  // The browser's own cache may hold files of an earlier version.
  await cache.addAll(shell.map(file => new Request(file, { cache: 'no-cache' })))
  const others = (await caches.keys()).filter(key => key.startsWith(PREFIX) && key !== PREFIX + name)
  await Promise.all(others.map(key => caches.delete(key)))
  // A page that is open has loaded all that it needs, so this version need not wait for it.
  await self.skipWaiting()
}

/** True where the hub did not give the page when it was opened last. */
let isAway = false

/** Opens the page from the hub, so that it is never an old one, and from the cache only where no hub answers. */
async function open(request) {
  const kept = await caches.match(index, { cacheName: PREFIX + name })
  if (!kept) return fetch(request)
  try {
    const answer = await fetch(request, { signal: AbortSignal.timeout(SILENT) })
    // A proxy answers so for a hub that does not run.
    isAway = [502, 503, 504].includes(answer.status)
    return isAway ? kept : answer
  } catch {
    isAway = true
    return kept
  }
}

/** Loads a file that belongs to the page as it was opened: one of a bundle has a name that changes with its content. */
async function load(request) {
  const isBundled = new URL(request.url).pathname.includes('/assets/')
  const kept = isAway || isBundled ? await caches.match(request.url, { cacheName: PREFIX + name }) : undefined
  return kept ?? fetch(request)
}

self.addEventListener('push', event => {
  event.waitUntil(notify(event.data.json()))
})
self.addEventListener('notificationclick', event => {
  const { notification, action } = event
  notification.close()
  event.waitUntil(action === '' ? show(notification.data) : press(notification, Number(action)))
})

/** Shows a message; browsers want each push to be seen, but for those that come while the page is. */
async function notify({ tag, title, text, conversation, buttons = [], isOver = false }) {
  await self.registration.showNotification(title, {
    tag,
    body: text,
    icon: './icon-192.png',
    data: { conversation, buttons },
    // Browsers that have no buttons leave them out, and a click opens the page.
    actions: buttons.map(({ label }, index) => ({ action: String(index), title: label })),
    silent: isOver,
  })
  if (!isOver) return
  const pages = await self.clients.matchAll({ type: 'window' })
  if (!pages.some(({ visibilityState }) => visibilityState === 'visible')) return
  for (const shown of await self.registration.getNotifications({ tag })) shown.close()
}

/** Presses a button of a message, and shows in its place what the hub says. */
async function press({ tag, title, data }, index) {
  const { url, body } = data.buttons[index]
  const text = await fetch(new URL(url, self.registration.scope), { method: 'POST', body }).then(
    async answer => (answer.ok ? await answer.text() : 'This was answered already, or its time is over.'),
    () => 'The hub cannot be reached from here: nothing was answered.',
  )
  await notify({ tag, title, text: text.trim(), conversation: data.conversation })
}

/** Shows a conversation in a page that is open, else in a new one. */
async function show({ conversation }) {
  const hash = conversation === null ? '' : `#c=${encodeURIComponent(conversation)}`
  const url = new URL(`./${hash}`, self.registration.scope).href
  const [page] = await self.clients.matchAll({ type: 'window' })
  if (!page) return self.clients.openWindow(url)
  // A page that this worker does not control yet cannot be led elsewhere.
  await Promise.allSettled([page.focus(), ...(hash ? [page.navigate(url)] : [])])
}
