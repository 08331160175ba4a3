import { createRedact } from '../../../schemas/redact.ts'
import { describeError } from '../../kit/log.ts'
import { cleanText } from '../../kit/text.ts'
import { type FailureFacts, UpstreamFailure } from '../../kit/upstream/failure.ts'

interface Asked {
  title: string
  /** Host and port: "mail.home:587". */
  address: string
  where: string
  secrets: readonly (string | undefined)[]
}

type Told = Pick<FailureFacts, 'kind' | 'what' | 'fix' | 'transient' | 'unsent'>

/** Explains nodemailer's error. By RFC 5321 a 4yz reply is temporary and a 5yz reply is final. */
export function explainMail(asked: Asked, error: unknown): UpstreamFailure {
  const {
    code = '',
    responseCode,
    command,
  } = error as { code?: string; responseCode?: number; command?: string }
  const redact = createRedact(asked.secrets.filter(one => one !== undefined))
  const why = redact(cleanText(describeError(error), 300))
  const facts = explain(asked, code, responseCode, why)
  return new UpstreamFailure(
    { ...facts, where: `SMTP ${asked.address}${command ? ` (${command})` : ''}`, why, status: responseCode },
    { cause: new Error(why) },
  )
}

function explain({ title, address, where }: Asked, code: string, answer = 0, why = ''): Told {
  if (code === 'EAUTH' || code === 'ENOAUTH') {
    const fix = `Check user and password of ${where}; many providers want an app password.`
    return { kind: 'unauthorized', what: `${title} did not accept the user or password.`, fix }
  }
  if (code === 'ETLS' || /certificate|self.signed|wrong version number|STARTTLS/i.test(why)) {
    const what = `${title} could not be reached over an encrypted connection.`
    const fix = `Where the certificate is your own, set allowSelfSigned of ${where}, or name its authority in NODE_EXTRA_CA_CERTS; where the server has no encryption, use it without a password; smtps:// is for port 465.`
    return { kind: 'refused', what, fix }
  }
  if (answer >= 500 || (answer < 400 && (code === 'EENVELOPE' || code === 'EMESSAGE'))) {
    const complaint = answer >= 500 ? ', and what the server complains about' : ''
    const fix = `Check from and to of ${where}${complaint}.`
    return { kind: 'refused', what: `${title} refused this message.`, fix }
  }
  if (answer >= 400) {
    const what = `${title} does not take it now.`
    const fix = 'It is tried again by itself; if it stays so, look at the mail server.'
    return { kind: 'server_error', what, fix, transient: true, unsent: true }
  }
  const what = `${title} could not be reached at ${address}.`
  const fix = `Check host and port in ${where}, and that the mail server runs.`
  const unsent = code === 'EDNS' || /ECONNREFUSED|ENOTFOUND|EAI_AGAIN/.test(why)
  return { kind: 'unreachable', what, fix, transient: true, unsent }
}
