import { storedSession } from './address.ts'

/** What decides whether a browser takes notifications. */
export interface PushFacts {
  /** https, or the hub's own machine. */
  isSecure: boolean
  hasPush: boolean
  isApple: boolean
  permission: string
}

/** Returns why this browser takes no notifications, and what to do; null where it does. */
export function pushObstacle({ isSecure, hasPush, isApple, permission }: PushFacts): string | null {
  if (!isSecure)
    return "Browsers take notifications only from https, or on the hub's own machine. Settings, On your phone, says how the hub gets https."
  if (!hasPush && isApple)
    return 'On an iPhone or iPad, first put this page on the Home Screen: the share button, then “Add to Home Screen”. Then open it there.'
  if (!hasPush) return 'This browser cannot take notifications.'
  if (permission === 'denied')
    return "This browser blocks notifications of this page: allow them in the browser's settings of this page, then load it anew."
  return null
}

/** Reads what `pushObstacle` needs of this browser. */
export function readFacts(): PushFacts {
  const { userAgent, maxTouchPoints } = navigator
  return {
    isSecure: isSecureContext,
    hasPush: 'serviceWorker' in navigator && 'PushManager' in window,
    // An iPad says that it is a Mac.
    isApple: /iPhone|iPad/.test(userAgent) || (userAgent.includes('Macintosh') && maxTouchPoints > 1),
    permission: 'Notification' in window ? Notification.permission : 'default',
  }
}

export interface PushState {
  /** Whether this browser asked for notifications. */
  isOn: boolean
  /** Why the hub sends none to browsers; null where it does. */
  problem: string | null
}

interface Told {
  publicKey: string
  problem?: string
}

/** Reads whether this device is notified. Throws why the hub does not say it. */
export async function readPush(): Promise<PushState> {
  const { problem = null } = await ask<Told>('GET')
  return { isOn: (await subscribed()) !== null, problem }
}

/** Asks the person and the browser, and tells the hub. Throws in words what stands against it. */
export async function switchPushOn(): Promise<void> {
  // The question has to come before anything is awaited: browsers show it only as the answer to a click.
  const permission = await Notification.requestPermission()
  const obstacle = pushObstacle({ ...readFacts(), permission })
  if (obstacle) throw new Error(obstacle)
  if (permission !== 'granted') throw new Error('It was not allowed. Switch it on again to be asked again.')
  await navigator.serviceWorker.register(workerUrl())
  await subscribe(await navigator.serviceWorker.ready)
}

export async function switchPushOff(): Promise<void> {
  await forgetPush()
  await ask('DELETE')
}

/** Has the hub send a notification to this device. Throws why it could not. */
export async function testPush(): Promise<void> {
  await ask('POST')
}

/** Tells the hub again of this device, since the browser may have another address by now, or the hub another key. */
export async function renewPush(): Promise<void> {
  try {
    if (await subscribed()) await subscribe(await navigator.serviceWorker.ready)
  } catch {
    // The settings say what is wrong once somebody looks.
    return
  }
}

/** Ends the notifications of this device, also where the hub cannot be told. */
export async function forgetPush(): Promise<void> {
  await (await subscribed())?.unsubscribe()
}

async function subscribe(worker: ServiceWorkerRegistration): Promise<void> {
  const { publicKey } = await ask<Told>('GET')
  const known = await worker.pushManager.getSubscription()
  if (known && toBase64Url(known.options.applicationServerKey) !== publicKey) await known.unsubscribe()
  const options = { userVisibleOnly: true, applicationServerKey: publicKey }
  const subscription = await worker.pushManager.subscribe(options).catch(error => {
    throw new Error(`The browser's own push service refused: ${error.message}`, { cause: error })
  })
  await ask('PUT', subscription)
}

async function subscribed(): Promise<PushSubscription | null> {
  const registration = await navigator.serviceWorker?.getRegistration(document.baseURI)
  return (await registration?.pushManager?.getSubscription()) ?? null
}

function workerUrl() {
  return new URL('./service-worker.js', document.baseURI)
}

function toBase64Url(key: ArrayBuffer | null) {
  const text = btoa(String.fromCharCode(...new Uint8Array(key ?? new ArrayBuffer(0))))
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** Asks the hub's door of notifications. Throws its words for a refusal. */
async function ask<Answer>(method: string, body?: unknown): Promise<Answer> {
  const headers = {
    Authorization: `Bearer ${storedSession.get()}`,
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
  }
  const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
  const response = await fetch(new URL('./session/push', document.baseURI), init).catch(cause => {
    throw new Error('The hub cannot be reached.', { cause })
  })
  const text = await response.text()
  const answer = text.startsWith('{') ? JSON.parse(text) : {}
  if (!response.ok)
    throw new Error(answer.error?.message ?? `The hub answered with status ${response.status}.`)
  return answer
}
