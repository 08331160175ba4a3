import { X509Certificate } from 'node:crypto'
import { readFileSync, unwatchFile, watchFile } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { createSecureContext } from 'node:tls'
import { toLocal } from '../core/clock.ts'
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

/** A certificate that serves, at this time in unix milliseconds. */
export interface Served {
  certificate: Certificate | undefined
  now: number
}

/**
 * Reads the files. While they are wrong, as in the midst of a renewal, the certificate that was read from them before
 * stays, and a warning says why. Throws `bad_request` where there is none.
 */
export function readCertificate(
  configFile: string,
  written: { cert: string; key: string },
  served?: Served,
): { certificate: Certificate; warnings: string[] } {
  const folder = dirname(configFile)
  const files = [resolve(folder, written.cert), resolve(folder, written.key)]
  const known = served?.certificate?.files.every((file, i) => file === files[i]) ? served : undefined
  const keep = (why: string) => {
    if (!known?.certificate) return undefined
    return {
      certificate: known.certificate,
      warnings: [`${why} (the certificate from before goes on to serve)`],
    }
  }
  try {
    const certificate = new Certificate(configFile, written)
    const isWorse =
      known?.certificate && certificate.expiresAt <= known.now && known.certificate.expiresAt > known.now
    const worse = isWorse ? keep(`${configFile}: tls: ${certificate.files[0]} has ended`) : undefined
    return worse ?? { certificate, warnings: [] }
  } catch (error) {
    const kept = error instanceof HubError ? keep(error.message) : undefined
    if (kept) return kept
    throw error
  }
}

/** Says that a certificate has ended, and when. */
export function describeEnd(
  { files, expiresAt }: Pick<Certificate, 'files' | 'expiresAt'>,
  timezone: string,
): string {
  return `https: the certificate ${files[0]} ended ${toLocal(expiresAt, timezone)}: renew it`
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
