import { expect, test } from 'vitest'
import { pushObstacle } from './push.ts'

const FINE = { isSecure: true, hasPush: true, isApple: false, permission: 'default' }

test.each([
  [{}, null],
  [{ permission: 'granted' }, null],
  [{ isApple: true }, null],
  [{ isSecure: false, hasPush: false }, /only from https/],
  [{ hasPush: false }, /^This browser cannot take notifications/],
  [{ hasPush: false, isApple: true }, /Add to Home Screen/],
  [{ permission: 'denied' }, /blocks notifications/],
])('a browser with %j: %s', (more, words) => {
  const obstacle = pushObstacle({ ...FINE, ...more })
  if (words) expect(obstacle).toMatch(words)
  else expect(obstacle).toBeNull()
})
