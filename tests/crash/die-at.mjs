// Loaded before the hub (`node --import`). It kills the process by SIGKILL at the point that DIE_AT
// describes. It hooks the database's statements and the sockets' frames from below, so that the hub's code is
// unchanged.
import Database from 'better-sqlite3'
import { WebSocket } from 'ws'

const { at, writing = '', times = 1 } = JSON.parse(process.env.DIE_AT)
const wanted = new RegExp(writing, 's')
let left = times
let isMarked = false

const die = () => process.kill(process.pid, 'SIGKILL')

/** Counts one passing of the point; kills the process at the last one. */
function pass() {
  left--
  if (left === 0) die()
}

function watch(run, statement, args) {
  const source = statement.source.trim().toLowerCase()
  if (source.startsWith('begin')) isMarked = false
  if (source === 'commit' && at === 'before commit' && isMarked) pass()
  const result = run.apply(statement, args)
  if (source === 'commit' && at === 'after commit' && isMarked) pass()
  if (
    !source.startsWith('begin') &&
    source !== 'commit' &&
    wanted.test(`${statement.source} ${JSON.stringify(args)}`)
  ) {
    isMarked = true
    if (at === 'after statement') pass()
  }
  return result
}

const probe = new Database(':memory:')
const prototype = Object.getPrototypeOf(probe.prepare('select 1'))
probe.close()
for (const name of ['run', 'all', 'get']) {
  const run = prototype[name]
  prototype[name] = function (...args) {
    return watch(run, this, args)
  }
}

const { send } = WebSocket.prototype
WebSocket.prototype.send = function (data, ...rest) {
  if (at === 'before frame' && wanted.test(String(data))) pass()
  return send.call(this, data, ...rest)
}
