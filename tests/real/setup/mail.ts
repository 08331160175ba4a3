import type { AddressInfo } from 'node:net'
import { type ParsedMail, simpleParser } from 'mailparser'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

export interface Mail {
  parsed: ParsedMail
  /** True if the connection was encrypted; `user` is the login. */
  secure: boolean
  user: unknown
  to: string[]
}

export interface MailServer extends AsyncDisposable {
  readonly port: number
  readonly mails: readonly Mail[]
  /** Answers the next mail with this refusal. */
  refuseOnce(code: number, text: string): void
}

/**
 * Starts a real SMTP server of npm, with a self-signed certificate; it knows the user "hub" with the password
 * "pw-of-hub".
 */
export async function startMailServer(
  options: SMTPServerOptions = {},
  host = '127.0.0.1',
): Promise<MailServer> {
  const mails: Mail[] = []
  let refusal: Error | undefined
  const server = new SMTPServer({
    onAuth({ username, password }, _session, callback) {
      if (username === 'hub' && password === 'pw-of-hub') callback(null, { user: username })
      else callback(new Error('Invalid username or password'))
    },
    onData(stream, session, callback) {
      void simpleParser(stream).then(parsed => {
        const refused = refusal
        refusal = undefined
        if (refused) return callback(refused)
        const to = session.envelope.rcptTo.map(({ address }) => address)
        mails.push({ parsed, secure: session.secure, user: session.user, to })
        callback(null, 'taken')
      }, callback)
    },
    ...options,
  })
  await new Promise<void>(resolve => server.listen(0, host, resolve))
  server.on('error', () => undefined) // a client that distrusts the certificate breaks the handshake
  return {
    port: (server.server.address() as AddressInfo).port,
    mails,
    refuseOnce(code, text) {
      refusal = Object.assign(new Error(text), { responseCode: code })
    },
    [Symbol.asyncDispose]: () => new Promise(resolve => server.close(() => resolve())),
  }
}
