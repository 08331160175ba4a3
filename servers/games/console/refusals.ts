import { UpstreamFailure } from '../../kit/upstream/failure.ts'

/** Returns the failure of a password that the console refused. */
export function wrongPassword(where: string, why = 'the game says that it is wrong'): UpstreamFailure {
  return new UpstreamFailure({
    kind: 'unauthorized',
    what: 'The console did not accept the password; nothing was sent.',
    where,
    why,
    fix: "Set the console's password in the settings to the one in the game's own configuration.",
  })
}
