import type { ListedPerson, ListedToken, Role } from '../../schemas/tokens.ts'

/** Tables of who may enter the hub. */
export interface DoorTables {
  tokens: {
    id: string
    /** What it shows as; of sessions and links the person. */
    name: string
    role: Role
    kind: ListedToken['kind']
    /** Globs over the only tools that it may use; null for all of its role. */
    tools_json: string | null
    /** SHA-256 of the secret, in hex. */
    hash: string
    created_at: number
    expires_at: number | null
    last_used_at: number | null
    /** Time at which it was revoked, used up or replaced. */
    ended_at: number | null
  }
  /** People who may sign in on the page, besides the owner. */
  people: { name: string; role: ListedPerson['role']; created_at: number }
  /** Keys of buttons that answer approvals; deleted once the approval is decided. */
  approval_keys: {
    /** SHA-256 of the key, in hex. */
    hash: string
    approval_id: string
    created_at: number
  }
  /** Browsers that show notifications, each by the session that asked for it. */
  push_subscriptions: {
    token_id: string
    /** Address at the browser's push service; whoever knows it may send there. */
    endpoint: string
    /** The browser's public key, and a secret that it shares with the hub; both base64url. */
    p256dh: string
    auth: string
    created_at: number
  }
  /** Logins of the hub at servers, secret as they are; no backup has them. */
  server_logins: {
    server: string
    login_json: string
    saved_at: number
  }
  /** What the hub's own authorization server keeps. Its secrets are kept as hashes, its own keys as they are. */
  oauth: {
    /** Name of the model in oidc-provider, such as RefreshToken. */
    kind: string
    /** SHA-256 of the id, in hex: the ids of codes and tokens are secrets. */
    hash: string
    /** Id of the grant that it belongs to; of a session the one that does not change. */
    related: string | null
    payload_json: string
    /** Time at which a code or a refresh token was used. */
    consumed_at: number | null
    expires_at: number | null
  }
}

export type TokenRow = DoorTables['tokens']
export type PersonRow = DoorTables['people']
export type PushRow = DoorTables['push_subscriptions']
export type ServerLoginRow = DoorTables['server_logins']
export type OAuthRow = DoorTables['oauth']
