import { type FakeTcp, startFakeTcp } from './fake-tcp.ts'

export interface FakeEcon extends FakeTcp {
  readonly commands: string[]
}

/**
 * Starts a TCP server that speaks Teeworlds 0.7's econ, with other log lines in between; password "labecon".
 */
export async function startFakeEcon(answers: (command: string) => readonly string[]): Promise<FakeEcon> {
  const commands: string[] = []
  const tcp = await startFakeTcp(socket => {
    const write = (line: string) => socket.write(`${line}\n\0\0`)
    const log = (line: string) => write(`[05:20:34]${line}`)
    let rest = ''
    let open = false
    const take = (line: string) => {
      if (!open) {
        open = line === 'labecon'
        if (!open) return write('Wrong password 1/3.')
        write('Authentication successful. External console access granted.')
        return log('[econ]: cid=0 authed')
      }
      log(`[server]: cid=0 cmd='${line}'`)
      const echoed = /^echo (.*)$/.exec(line)?.[1]
      if (echoed !== undefined) return log(`[Console]: ${echoed}`)
      commands.push(line)
      for (const answer of answers(line)) log(`[Console]: ${answer}`)
      return true
    }
    write('Enter password:')
    socket.on('data', piece => {
      const lines = `${rest}${piece}`.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) take(line)
    })
  })
  return Object.assign(tcp, { commands })
}
