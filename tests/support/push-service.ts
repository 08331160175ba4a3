import { createDecipheriv, createECDH, createPublicKey, hkdfSync, randomBytes, verify } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { createTrustedFetch } from '../../hub/core/trusted-fetch.ts'
import type { PushMessage, PushSubscription } from '../../schemas/push.ts'
import { CERTIFICATE, CERTIFICATE_KEY } from './certificate.ts'
import { createRecord } from './until.ts'

/** A push as its browser gets it. */
export interface ReceivedPush {
  browser: string
  message: PushMessage
  headers: IncomingHttpHeaders
  /** Public key of the sender, and whom it names to write to. */
  sender: string
  subject: string
  at: number
}

/** Answer of a push service to a push: a status, with a body and headers. */
export interface PushAnswer {
  status: number
  body?: string
  headers?: Record<string, string>
}

/** A `fetch` that reaches the services of `startPushService`. */
export const pushFetch = createTrustedFetch(CERTIFICATE)

/**
 * Starts a push service on loopback, and browsers that subscribe at it. It checks each push as the standards say (RFC
 * 8030, 8188, 8291, 8292), without the library that sends them. `answers` are given before it takes pushes again.
 */
export async function startPushService() {
  const pushes = createRecord<ReceivedPush>()
  const refusals: string[] = []
  const answers: PushAnswer[] = []
  const browsers = new Map<string, ReturnType<typeof createBrowser>>()
  const server = createServer({ cert: CERTIFICATE, key: CERTIFICATE_KEY }, async (request, response) => {
    const body = await buffer(request)
    const answer = answers.shift()
    if (answer) return void response.writeHead(answer.status, answer.headers).end(answer.body)
    const name = request.url?.slice('/push/'.length) ?? ''
    const browser = browsers.get(name)
    if (!browser) return void response.writeHead(410).end()
    try {
      const { sender, subject } = checkSender(request.headers, url())
      if (request.method !== 'POST' || !/^\d+$/.test(String(request.headers['ttl'])))
        throw new Error('It is no push')
      const message = JSON.parse(browser.decrypt(body)) as PushMessage
      pushes.add({ browser: name, message, headers: request.headers, sender, subject, at: Date.now() })
      response.writeHead(201, { Location: `${url()}/message` }).end()
    } catch (error) {
      refusals.push(String(error))
      response.writeHead(400).end(String(error))
    }
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = () => `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    get url() {
      return url()
    },
    pushes,
    /** Why pushes were wrong. */
    refusals,
    answers,
    /** Makes a browser; returns what it tells the hub of itself. */
    subscribe(name: string): PushSubscription & { expirationTime: null } {
      const browser = createBrowser()
      browsers.set(name, browser)
      return { endpoint: `${url()}/push/${name}`, expirationTime: null, keys: browser.keys }
    },
    unsubscribe: (name: string) => browsers.delete(name),
    async [Symbol.asyncDispose]() {
      const closed = new Promise(resolve => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

/** Checks the signature of a sender (RFC 8292); returns its key and whom it names. Throws what is wrong. */
function checkSender({ authorization = '' }: IncomingHttpHeaders, audience: string) {
  const [, token = '', sender = ''] = /^vapid t=([\w.-]+), ?k=([\w-]+)$/.exec(authorization) ?? []
  const point = Buffer.from(sender, 'base64url')
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map(part => part.toString('base64url'))
  if (!x || !y) throw new Error('There is no key')
  const key = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' })
  const [head = '', claims = '', signature = ''] = token.split('.')
  const isRight = verify(
    'sha256',
    Buffer.from(`${head}.${claims}`),
    { key, dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  )
  if (!isRight) throw new Error('The signature is wrong')
  const { aud, exp, sub } = JSON.parse(Buffer.from(claims, 'base64url').toString())
  const left = exp - Date.now() / 1_000
  if (aud !== audience || left <= 0 || left > 86_400) throw new Error(`It is for ${aud} until ${exp}`)
  if (!/^(https:\/\/|mailto:)/.test(sub) || /localhost/.test(sub)) throw new Error(`Nobody is ${sub}`)
  return { sender, subject: String(sub) }
}

/** Makes the keys of a browser, which decrypts what was sent to it (RFC 8188 and 8291). */
function createBrowser() {
  const ecdh = createECDH('prime256v1')
  const own = ecdh.generateKeys()
  const auth = randomBytes(16)
  const derive = (secret: Buffer, salt: Buffer, info: Buffer, length: number) =>
    Buffer.from(hkdfSync('sha256', secret, salt, info, length))
  return {
    keys: { p256dh: own.toString('base64url'), auth: auth.toString('base64url') },
    decrypt(body: Buffer): string {
      const [salt, size, length] = [body.subarray(0, 16), body.readUInt32BE(16), body.readUInt8(20)]
      if (body.length > 4_096 || body.length > size) throw new Error(`It has ${body.length} bytes`)
      const theirs = body.subarray(21, 21 + length)
      const shared = ecdh.computeSecret(theirs)
      const ikm = derive(shared, auth, Buffer.concat([Buffer.from('WebPush: info\0'), own, theirs]), 32)
      const key = derive(ikm, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16)
      const nonce = derive(ikm, salt, Buffer.from('Content-Encoding: nonce\0'), 12)
      const sealed = body.subarray(21 + length)
      const decipher = createDecipheriv('aes-128-gcm', key, nonce)
      decipher.setAuthTag(sealed.subarray(-16))
      const plain = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()])
      // The last record ends with a 2 and padding.
      return plain.subarray(0, plain.lastIndexOf(2)).toString()
    },
  }
}
