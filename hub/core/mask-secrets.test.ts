import { describe, expect, test } from 'vitest'
import { listHidden, maskSecrets } from './mask-secrets.ts'

const PLAIN = [
  '-y',
  '@scope/key-server@1.2.0',
  '/srv/tokens:/data',
  'http://keycloak.lan:80/mcp',
  '--keyboard',
  'us',
]

/** A text that every secret of the cases contains. */
const SECRET = 'hunter2'

describe('what is secret in arguments is hidden, and what is none stays', () => {
  const cases: [string, string[], string[]][] = [
    ['a header', ['--header', `Authorization: Bearer ${SECRET}`], ['--header', 'Authorization: ***']],
    ['a header of its own', ['-H', `X-Mine: ${SECRET}`, 'x'], ['-H', 'X-Mine: ***', 'x']],
    ['without a space', [`Authorization:${SECRET} b`], ['Authorization:***']],
    ['in two', ['Authorization:', 'Bearer', SECRET], ['Authorization:', '***', '***']],
    ['a bearer alone', [`Bearer ${SECRET}`], ['Bearer ***']],
    ['an option', ['--api-key', SECRET, 'x'], ['--api-key', '***', 'x']],
    ['an option with =', [`--token=${SECRET}`, 'x'], ['--token=***', 'x']],
    ['an option auth', ['--auth', SECRET, '--auth-mode', 'x'], ['--auth', '***', '--auth-mode', 'x']],
    ['a short option', ['-password', SECRET], ['-password', '***']],
    ['a word', ['login', 'access_token', SECRET], ['login', 'access_token', '***']],
    ['an option after one', ['--use-token', '--port', '80'], ['--use-token', '--port', '80']],
    ['a variable', ['-e', `DB_PASS=${SECRET}`, 'x'], ['-e', 'DB_PASS=***', 'x']],
    ['any variable', ['-e', `WHO=${SECRET}`, 'x'], ['-e', 'WHO=***', 'x']],
    ['a variable passed on', ['-e', 'API_TOKEN', 'ghcr.io/a/b'], ['-e', 'API_TOKEN', 'ghcr.io/a/b']],
    ['a command', ['-c', `cd /x && TOKEN=${SECRET} run`], ['-c', 'cd /x && TOKEN=***']],
    ['an option in a command', ['-c', `run --api-key ${SECRET}`], ['-c', 'run --api-key ***']],
    ['JSON', [`{"name":"x","apiKey":"${SECRET}"}`], ['{"name":"x","apiKey":***']],
    ['a database', [`postgresql://me:${SECRET}@db/x`], ['postgresql://***@db/x']],
    ['an address', [`--url=https://${SECRET}@h:1/x?a=1`], ['--url=https://***@h:1/x?a=***']],
    ['a token alone', ['ghp_0123456789abcdefHUNTER2ghijklmnopqrs', 'x'], ['ghp_***', 'x']],
    ['an access token', [`--pat=${SECRET}`, 'x'], ['--pat=***', 'x']],
    ['a header by its option', ['--auth-header', `Basic ${SECRET}`], ['--auth-header', '***']],
    ['a short password', ['-p', SECRET, '-p', '8080:80'], ['-p', '***', '-p', '8080:80']],
    ['a password behind its option', [`-p${SECRET}`, '-p80', '-port=80'], ['-p***', '-p80', '-port=80']],
    [
      'an address with a token',
      ['http://h/s3cretValue1/mcp', '/srv/s3cretValue1'],
      ['http://h/***/mcp', '/srv/s3cretValue1'],
    ],
    ['plain ones', PLAIN, PLAIN],
  ]
  test.each(cases)('%s', (_name, args, shown) => {
    expect(maskSecrets({ a: { args } }, 'servers')).toEqual({ a: { args: shown } })
    const isHidden = args.some(arg => arg.includes(SECRET))
    expect(listHidden(args).filter(part => part === SECRET).length > 0).toBe(isHidden)
  })
})

describe('addresses keep all but who logs in, what the query says and what only the other side could make up', () => {
  test.each([
    [`https://user:${SECRET}@host/mcp?api_key=${SECRET}&b=2`, 'https://***@host/mcp?api_key=***&b=***'],
    [`https://host/mcp?${SECRET}#${SECRET}`, 'https://host/mcp?***#***'],
    ['https://host/s/0f8fad5b-d9cb-469f-a165-70867728950e/mcp', 'https://host/s/***/mcp'],
    ['https://host/s/MzQ1Njc4OTAxMjM0NTY3ODkw/mcp', 'https://host/s/***/mcp'],
    ['http://abc123def456ghi.lan/v1beta1/openapi', 'http://abc123def456ghi.lan/v1beta1/openapi'],
    ['http://localhost:11434/v1', 'http://localhost:11434/v1'],
    ['https://host/@scope/mcp-2026-07-28', 'https://host/@scope/mcp-2026-07-28'],
  ])('%s', (url, shown) => {
    expect(maskSecrets({ remote: { url } }, 'servers')).toEqual({ remote: { url: shown } })
    expect(maskSecrets({ default: { baseUrl: url } }, 'model')).toEqual({ default: { baseUrl: shown } })
    expect(maskSecrets(url, 'publicUrl')).toBe(shown)
  })
})

test('all of env and headers is hidden, and what has the name of a secret', () => {
  const entry = {
    command: 'npx',
    env: { HOME: SECRET, EMPTY: '' },
    requestInit: { headers: { Accept: SECRET } },
    oauth: { clientId: 'me', clientSecret: SECRET, issuer: `https://${SECRET}@host` },
    timeout: 5,
  }
  expect(maskSecrets({ one: entry, off: false }, 'servers')).toEqual({
    one: {
      command: 'npx',
      env: { HOME: '***', EMPTY: '' },
      requestInit: { headers: { Accept: '***' } },
      oauth: { clientId: 'me', clientSecret: '***', issuer: 'https://***@host' },
      timeout: 5,
    },
    off: false,
  })
})

test('a text that was expanded is shown as it was written, masked all the same', () => {
  const written = new Map([
    [`/srv/${SECRET}`, `/srv/\${NAME}`],
    [`https://host/${SECRET}?a=${SECRET}`, `\${BASE}/\${NAME}?a=b`],
  ])
  const entry = { args: [`/srv/${SECRET}`, `https://host/${SECRET}?a=${SECRET}`], cwd: `/srv/${SECRET}` }
  expect(maskSecrets({ one: entry }, 'servers', written)).toEqual({
    one: { args: [`/srv/\${NAME}`, `\${BASE}/\${NAME}?a=***`], cwd: `/srv/\${NAME}` },
  })
})
