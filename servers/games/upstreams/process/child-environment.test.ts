import { expect, test } from 'vitest'
import { toChildEnvironment } from './child-environment.ts'

test('a game sees where it is and who runs it, and no secret of the server', () => {
  const secrets = {
    GAMES_PASSWORD_QUAKE: 'a',
    SUPERBLOOM_TOKEN: 'b',
    RADARR_API_KEY: 'c',
    NODE_OPTIONS: '-r x',
  }
  const shared = { PATH: '/usr/bin', HOME: '/home/me', XDG_RUNTIME_DIR: '/run/mine' }
  expect(toChildEnvironment({ ...shared, ...secrets, LANG: '' })).toEqual(shared)
})
