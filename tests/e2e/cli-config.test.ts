import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runCli } from '../support/cli.ts'

const CONFIG = `
model:
  default: { baseUrl: "https://me:never-shown@models.lan/v1", apiKey: "\${API_KEY}", model: "qwen3" }
  compaction: { baseUrl: "\${BASE}", model: "small" }
servers:
  remote: { command: npx, args: ["-y", "mcp-remote", "https://a.lan/mcp", "--header", "Authorization: Bearer \${REMOTE}"] }
mcpServers:
  asked: { url: "https://user:\${REMOTE}@b.lan/mcp?api_key=\${REMOTE}&region=never-shown" }
  shared: { command: "\${HOME_OF_IT}/bin/shared", args: ["--root", "\${REMOTE}", "/srv"], cwd: "/opt" }
`

test('config shows no secret that stands in a longer text, or that a variable put there', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'superbloom-config-'))
  onTestFinished(() => rmSync(cwd, { recursive: true }))
  writeFileSync(join(cwd, 'superbloom.yaml'), CONFIG)
  const { code, stdout, stderr } = await runCli(['config'], {
    cwd,
    variables: {
      API_KEY: 'never-shown-1',
      BASE: 'https://never-shown-2@c.lan/v1',
      REMOTE: 'never-shown-3',
      HOME_OF_IT: '/never-shown-4',
      SUPERBLOOM_PUBLIC_URL: 'https://me:never-shown-5@hub.lan',
    },
  })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).not.toContain('never-shown')
  for (const shown of [
    '"baseUrl":"https://***@models.lan/v1","apiKey":"***","model":"qwen3"',
    `"baseUrl":"\${BASE}","model":"small"`,
    '"args":["-y","mcp-remote","https://a.lan/mcp","--header","Authorization: ***"]',
    '"url":"https://***@b.lan/mcp?api_key=***&region=***"',
    `"command":"\${HOME_OF_IT}/bin/shared","args":["--root","\${REMOTE}","/srv"],"cwd":"/opt"`,
    'publicUrl: "https://***@hub.lan"',
  ]) {
    expect(stdout).toContain(shown)
  }
})
