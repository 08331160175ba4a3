/**
 * Registers the worker that opens the page where the hub cannot be reached, and loads the page anew once the hub has
 * another version of it, unless `isWriting`. There is no worker in a checkout, whose files have no version, and
 * browsers take none from http, except from their own machine.
 */
export function keepOffline(isWriting: () => boolean) {
  const workers = navigator.serviceWorker
  if (!workers || document.querySelector('script[type="importmap"]')) return
  let isCurrent = true
  const renew = () => {
    if (!isCurrent && !isWriting()) location.reload()
  }
  workers.addEventListener('controllerchange', async () => {
    // Another version's files have other names than this script.
    isCurrent = (await caches.match(import.meta.url)) !== undefined
    renew()
  })
  document.addEventListener('visibilitychange', renew)
  // Where it fails, as at an address whose certificate is not trusted, the page works without.
  void workers.register(new URL('./service-worker.js', document.baseURI)).then(null, () => null)
}

/** Looks whether the hub has another version of the page. */
export function lookForUpdate() {
  const found = navigator.serviceWorker?.getRegistration()
  void found?.then(registration => registration?.update()).then(null, () => null)
}
