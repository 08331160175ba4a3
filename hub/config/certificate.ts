import { X509Certificate } from 'node:crypto'
import { readFileSync, unwatchFile, watchFile } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { createSecureContext } from 'node:tls'
import { describeError, HubError } from '../core/errors.ts'

/** A certificate with its key, as their files held them when it was made. */
export class Certificate {
  /** Absolute paths of the certificate and of its key. */
  readonly files: readonly [cert: string, key: string]
  readonly fingerprint: string
  /** Unix milliseconds. */
  readonly expiresAt: number
  readonly #pair: { cert: Buffer; key: Buffer }
  readonly #leaf: X509Certificate

  /** Throws `bad_request`, with what to do, for files that a server cannot use. */
  constructor(configFile: string, written: { cert: string; key: string }) {
    const folder = dirname(configFile)
    this.files = [resolve(folder, written.cert), resolve(folder, written.key)]
    const [cert, key] = this.files
    try {
      this.#pair = { cert: readFileSync(cert), key: readFileSync(key) }
      createSecureContext(this.#pair)
      this.#leaf = new X509Certificate(this.#pair.cert)
    } catch (error) {
      const how = `${cert} must be a certificate and ${key} its key without a passphrase, both PEM files that the hub's user may read`
      throw new HubError('bad_request', `${configFile}: tls: ${describeError(error)}. ${how}.`, {
        cause: error,
      })
    }
    this.fingerprint = this.#leaf.fingerprint256
    this.expiresAt = this.#leaf.validToDate.getTime()
  }

  /** The certificate and its key, as an https server takes them. */
  get pair(): { cert: Buffer; key: Buffer } {
    return this.#pair
  }

  /** PEM of the certificate alone, without key and chain. */
  get pem(): string {
    return this.#leaf.toString()
  }
}

/** Milliseconds between two looks at the files. */
const LOOK_MS = 1_000

/**
 * Looks at the files of the current certificate and reports their changes; `follow` has to be called once, and after
 * each change of the config. Those who renew certificates replace links to them, which other ways to watch do not see.
 */
export function watchCertificate(current: () => Certificate | undefined, onChange: () => void) {
  let watched: readonly string[] = []
  const end = () => {
    for (const file of watched) unwatchFile(file, onChange)
  }
  return {
    follow() {
      end()
      watched = current()?.files ?? []
      for (const file of watched) watchFile(file, { interval: LOOK_MS, persistent: false }, onChange)
    },
    [Symbol.dispose]: end,
  }
}
