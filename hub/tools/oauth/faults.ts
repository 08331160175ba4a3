/**
 * Why a server does not let the hub in, or why that could not be found out. Its name is the one by which the SDK knows
 * that a handshake failed for want of a login, and not for the era.
 */
export class LoginFault extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'UnauthorizedError'
  }
}

/** Only a person can mend it: nothing more can be asked of the server until then. */
export class NeedsLogin extends LoginFault {
  constructor(server: string, why = '') {
    super(`needs a login${why}: run superbloom servers login ${server}`)
  }
}
