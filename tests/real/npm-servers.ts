import { writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { type Measured, measure, openNpmWorld } from './setup/npm-measure.ts'
import { installServers, largeServers, type NpmServer, smallServers } from './setup/npm-servers.ts'

/* Prints the table of servers from npm, each in a hub of its own; `--write` puts it into docs/servers.md. */

const DOCUMENT = join(import.meta.dirname, '..', '..', 'docs', 'servers.md')

const COLUMNS: readonly [string, (row: Measured) => string | number][] = [
  ['server', ({ server }) => `\`${server.package}\` ${server.version}`],
  ['era', ({ era }) => (era === 'modern' ? '2026-07-28' : 'legacy')],
  ['start, ms', ({ starts }) => Math.round(starts)],
  ['memory, MiB', ({ memory }) => Math.round(memory)],
  ['tools', ({ tools }) => tools],
  ['call', ({ failed, server }) => (failed ? `its error (${server.call.says})` : 'ok')],
  ['structured', ({ structured }) => mark(structured)],
  ['resources', ({ offered }) => offered.resources.length || ''],
  ['templates', ({ offered }) => offered.templates.length || ''],
  ['prompts', ({ offered }) => offered.prompts.length || ''],
  ['completions', ({ capabilities }) => mark(capabilities.completions)],
  ['logging', ({ capabilities }) => mark(capabilities.logging)],
  ['tells of changes', ({ capabilities }) => mark(capabilities.tools?.listChanged)],
  ['back, ms', ({ back }) => Math.round(back)],
]

function mark(value: unknown): string {
  return value ? 'yes' : ''
}

async function measureAlone(servers: readonly NpmServer[], title: string): Promise<Measured[]> {
  const programOf = installServers(servers, title)
  await using world = await openNpmWorld()
  const rows: Measured[] = []
  for (const server of servers) rows.push(...(await measure([server], programOf, world)))
  return rows
}

function toTable(rows: readonly Measured[]): string {
  const lines = [
    COLUMNS.map(([title]) => title),
    COLUMNS.map(() => '---'),
    ...rows.map(row => COLUMNS.map(([, show]) => String(show(row)))),
  ]
  return lines.map(cells => `| ${cells.join(' | ')} |`).join('\n')
}

const rows = [
  ...(await measureAlone(smallServers, 'npm-servers')),
  ...(await measureAlone(largeServers, 'npm-servers-large')),
]
const table = toTable(rows)
process.stdout.write(`${table}\n`)
if (process.argv.includes('--write')) {
  const day = new Date().toISOString().slice(0, 10)
  writeFileSync(DOCUMENT, toDocument(table, day))
}

function toDocument(text: string, day: string): string {
  const load = loadavg()[1]?.toFixed(1)
  return `# Servers of others

What the hub does with servers from npm that start without a network and without keys: each is an entry of the config,
started by the hub, listed, called, killed and called again. Written by
\`node bin/node.js tests/real/npm-servers.ts --write\` on ${day}, each in a hub of its own, on ${cpus().length} cores with a load of
${load} (other work makes the times longer; the rest is the same). \`tests/real/npm-servers.test.ts\` holds it for
the small ones, all in one hub, and \`npm-servers.full.test.ts\` for the large ones.

${text}

- **start**: from the start of its process to all that it offers being in the hub. **memory**: resident, with what it
  started.
- **call**: one call through the hub that reads something. Where the program behind a server is not there, its own error
  arrives as it is.
- **structured**: the answer has structured content. **resources**, **templates**, **prompts**: how many.
  **completions**, **logging**, **tells of changes**: what the server says that it can.
- **back**: from a SIGKILL to all of it being there again, by the hub alone; the first try comes after about half a second.

Everything arrives as the server lists it: titles, descriptions, schemas, annotations, icons and \`_meta\`. The tests compare
each tool, resource, template and prompt with what the server lists directly, to a client of its own era, and read each
resource, prompt and completion both ways. Each ran with \`sandbox: auto\` in bubblewrap, and its process saw nothing in the hub's data
folder. What a list cannot say (\`mcp-fetch-server\` announces resources and does not know
the request, \`server-postgres\` cannot list them without its database) takes nothing from its server's tools. Of two servers
without a prefix that both have an \`echo\` the second one's is \`hello__echo\`.
`
}
