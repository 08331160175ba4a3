import type { AuditRow } from '../../../../schemas/audit.ts'
import { html } from '../../html.ts'
import type { Mcp } from '../../mcp.ts'
import { ActButton } from '../ask-again.ts'

/** Rows that are read at once. */
const PAGE = 1_000

/** Leads to the audit, and saves it as JSON lines, as `superbloom audit --json` prints them. */
export function AuditExport({ mcp, onAudit }: { mcp: Mcp; onAudit: () => void }) {
  return html`<p class="card-text">Who did what, by what right. Its tab in the hub's panel lists the newest rows and checks that none was changed.</p>
    <div class="card-actions"><button type="button" class="quiet" onClick=${onAudit}>Open the audit</button></div>
    <${ActButton} label="Save the audit as JSON lines" name="Save the audit as JSON lines" busy="Reading…" onClick=${async () => save(await readAll(mcp))} />`
}

async function readAll(mcp: Mcp): Promise<string> {
  const lines: string[] = []
  for (let after: number | undefined = 0; after !== undefined; ) {
    const { rows }: { rows: AuditRow[] } = await mcp.call('hub_list_audit', { after, limit: PAGE })
    lines.push(...rows.map(row => `${JSON.stringify(row)}\n`))
    after = rows.length < PAGE ? undefined : rows.at(-1)?.seq
  }
  return lines.join('')
}

function save(text: string) {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/jsonl' }))
  link.download = 'superbloom-audit.jsonl'
  link.click()
  URL.revokeObjectURL(link.href)
}
