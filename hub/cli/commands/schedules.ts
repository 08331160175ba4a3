import type { Command } from 'commander'
import { printCall } from '../call-hub.ts'

export function define(command: Command): void {
  command
    // Positional options leave the options after "create" to it.
    .enablePositionalOptions()
    .option('--agent <name>', 'only those of this agent')
    .action((options: object) => printCall('hub_list_schedules', { ...options }))
  command
    .command('create')
    .description('wake an agent later, or again and again')
    .argument('<reason...>', 'its note for then')
    .option('--agent <name>', 'which agent; default homelab, else the first')
    .option('--delay <span>', '90s, 30m, 2h, 1d, or on_event')
    .option('--at <time>', 'ISO 8601')
    .option('--cron <expression>', 'for example "0 8 * * *"')
    .option('--timezone <zone>', "default the hub's")
    .option('--wake-on <type...>', 'wake it early at an event of one of these types')
    .action((reason: string[], { wakeOn, ...wake }: { wakeOn?: string[] }) => {
      const wakeOnEvents = wakeOn ? { wakeOnEvents: wakeOn } : {}
      return printCall('hub_create_schedule', { ...wake, reason: reason.join(' '), ...wakeOnEvents })
    })
  command
    .command('cancel')
    .description('cancel a pending wake-up')
    .argument('<id>', 'as superbloom schedules shows it')
    .action((id: string) => printCall('hub_cancel_schedule', { id }))
}
