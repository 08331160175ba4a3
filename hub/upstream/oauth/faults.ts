/**
 * Says why a server does not let the hub in, or why that could not be found out. By its name the SDK knows
 * that a handshake failed for want of a login, and not because of the era.
 */
export class LoginFault extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'UnauthorizedError'
  }
}

/** Says that a person has to log in: nothing more can be asked of the server until then. */
export class NeedsLogin extends LoginFault {
  constructor(server: string, why = '') {
    super(`needs a login${why}: run superbloom servers login ${server}`)
  }
}
