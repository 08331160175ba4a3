// Loaded before the hub (`node --import`). It kills the process by SIGKILL at the point that DIE_AT
// describes. It hooks the database's statements and the sockets' frames from below, so that the hub's code is
// unchanged.
import Database from 'better-sqlite3'
import pg from 'pg'
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

function passBefore(source) {
  if (source.startsWith('begin')) isMarked = false
  if (source === 'commit' && at === 'before commit' && isMarked) pass()
}

function passAfter(source, args) {
  if (source === 'commit' && at === 'after commit' && isMarked) pass()
  if (
    !source.startsWith('begin') &&
    source !== 'commit' &&
    wanted.test(`${source} ${JSON.stringify(args)}`)
  ) {
    isMarked = true
    if (at === 'after statement') pass()
  }
}

function watch(run, statement, args) {
  const source = statement.source.trim()
  passBefore(source)
  const result = run.apply(statement, args)
  passAfter(source, args)
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

const { query } = pg.Client.prototype
pg.Client.prototype.query = async function (given, ...rest) {
  const { text = given, values = [] } = given
  passBefore(text)
  const result = await query.call(this, given, ...rest)
  passAfter(text, values)
  return result
}

const { send } = WebSocket.prototype
WebSocket.prototype.send = function (data, ...rest) {
  if (at === 'before frame' && wanted.test(String(data))) pass()
  return send.call(this, data, ...rest)
}
