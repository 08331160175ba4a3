import { type ChildProcess, spawn } from 'node:child_process'
import type { Log } from '../core/log.ts'

/** Ends what the hub started where the hub itself is killed and cannot. Who opens it disposes of it, last. */
export interface ChildGuard extends AsyncDisposable {
  /** Ends the process group of this leader when the hub dies, unless the returned function is called before. */
  watch(pid: number): () => void
}

/**
 * Learns groups from its input and, once that ends, ends them: by then most children have seen the end of their own
 * input and are gone, but not those that ignore it, and not what they started.
 */
const SCRIPT = `
groups=' '
while read -r sign group; do
  case $sign in
    +) groups="$groups$group " ;;
    -) groups="\${groups%% $group *} \${groups#* $group }" ;;
  esac
done
for signal in TERM KILL; do
  [ "$groups" = ' ' ] && exit 0
  sleep 1
  left=' '
  for group in $groups; do
    if kill -$signal -$group 2>/dev/null; then left="$left$group "; fi
  done
  groups=$left
done`

/** A small shell per hub, since Node has no other way to be outlived; it runs while there is a process to watch. */
export function openChildGuard(log: Log): ChildGuard {
  const watched = new Set<number>()
  let guard: ChildProcess | undefined
  let gone: Promise<unknown> = Promise.resolve()

  const tell = (line: string) => guard?.stdin?.write(`${line}\n`)
  const end = () => {
    // A guard that is ending is waited for, and Node gives up a wait that nothing keeps alive.
    guard?.ref()
    guard?.stdin?.end()
    guard = undefined
  }
  const start = () => {
    const child = spawn('sh', ['-c', SCRIPT, 'superbloom-guard'], {
      stdio: ['pipe', 'ignore', 'ignore'],
      cwd: '/',
      env: { PATH: '/usr/bin:/bin' },
      // A Ctrl+C on the terminal is for the hub.
      detached: true,
    })
    guard = child
    const ended = Promise.withResolvers<void>()
    gone = Promise.all([gone, ended.promise])
    const forget = () => {
      if (guard === child) guard = undefined
      ended.resolve()
    }
    child.once('exit', forget)
    child.once('error', error => {
      log.debug('children_not_guarded', { error })
      forget()
    })
    child.stdin?.on('error', error => log.debug('guard_not_told', { error }))
    child.unref()
    for (const pid of watched) tell(`+ ${pid}`)
  }
  return {
    watch(pid) {
      if (process.platform === 'win32') return () => undefined
      watched.add(pid)
      if (guard) tell(`+ ${pid}`)
      else start()
      return () => {
        if (!watched.delete(pid)) return
        tell(`- ${pid}`)
        if (watched.size === 0) end()
      }
    },
    async [Symbol.asyncDispose]() {
      end()
      await gone
    },
  }
}
