/** Examples that a command's help shows, by the command. */
export const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  chat: ['superbloom chat homelab/nas'],
  ask: ['superbloom ask homelab "how are the disks?"', 'superbloom ask homelab/nas --json "is the NAS up?"'],
  'threads show': ['superbloom threads show homelab --limit 3'],
  why: ['superbloom why cyc_0mwwg3fy --step 2'],
  mcp: ['superbloom mcp --config claude-desktop'],
  serve: ['superbloom serve metrics --http 8431'],
  'approvals approve': [
    'superbloom approvals approve 3 --note fine',
    'superbloom approvals approve 3 --always 1d',
  ],
  'approvals deny': ['superbloom approvals deny 3 --note "not while somebody plays"'],
  'policy explain': ['superbloom policy explain stop_game_server --power routine'],
  'models try': ['superbloom models try qwen3:8b'],
  reset: ['superbloom reset homelab --message "the disks are new"'],
  restore: ['superbloom restore data/backups/superbloom-2026-11-25.db'],
  migrate: ['superbloom migrate sqlite-to-postgres'],
  'servers add': [
    'superbloom servers add files -- npx -y @modelcontextprotocol/server-filesystem /srv',
    'superbloom servers add remote --url https://example.org/mcp',
  ],
  'tokens create': [
    'superbloom tokens create laptop --tools "get_*" "list_*" --expires-in 90d',
    'superbloom tokens create prometheus --role metrics',
  ],
  'people add': ['superbloom people add Anna --role guest'],
  audit: ['superbloom audit --since 7d --tool restart_container'],
  events: ['superbloom events --type temp_high --limit 10'],
  'events publish': [`superbloom events publish temp_high '{"host":"nas","temp":88}'`],
  'schedules create': [
    'superbloom schedules create --cron "0 8 * * *" -- morning report',
    'superbloom schedules create --delay 30m -- look at the disks again',
  ],
}
