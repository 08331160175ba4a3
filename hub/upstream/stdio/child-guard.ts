import { type ChildProcess, spawn } from 'node:child_process'
import type { Log } from '../../core/log.ts'

/** Ends the hub's child processes if the hub itself is killed. Its opener disposes of it last. */
export interface ChildGuard extends AsyncDisposable {
  /** Ends this leader's process group when the hub dies, unless the returned function is called first. */
  watch(pid: number): () => void
}

/**
 * Reads process groups from its input and ends them once the input ends. By then most children have exited,
 * because their own input ended too; left are those that ignore that, and what the children started.
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

/** Opens a guard: a small shell, since nothing in Node survives a kill. It runs while it has a group. */
export function openChildGuard(log: Log): ChildGuard {
  const watched = new Set<number>()
  let guard: ChildProcess | undefined
  let gone: Promise<unknown> = Promise.resolve()

  const tell = (line: string) => guard?.stdin?.write(`${line}\n`)
  const end = () => {
    // Disposing waits for the guard's exit; without `ref` Node would exit during that wait.
    guard?.ref()
    guard?.stdin?.end()
    guard = undefined
  }
  const start = () => {
    const child = spawn('sh', ['-c', SCRIPT, 'superbloom-guard'], {
      stdio: ['pipe', 'ignore', 'ignore'],
      cwd: '/',
      env: { PATH: '/usr/bin:/bin' },
      // A Ctrl+C on the terminal must reach only the hub.
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
