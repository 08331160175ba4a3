import express, { type Request, type RequestHandler, Router } from 'express'
import { type FileEntry, LARGEST_FILE } from '../../../schemas/files.ts'
import type { Clock } from '../../core/clock.ts'
import { HubError } from '../../core/errors.ts'
import type { NewId } from '../../core/ids.ts'
import { may, type Principal } from '../../core/principal.ts'
import { stripUnseen, toLine } from '../../core/text.ts'
import { addFile, checkUnsent, findFile } from '../../store/files.ts'
import type { Store } from '../../store/open.ts'
import { bearerOf, type Doors } from '../doors.ts'
import type { McpDoorDeps } from '../mcp-door.ts'
import { createRoom } from '../room.ts'
import { createPdfReader } from './extract-pages.ts'
import { readText } from './read-text.ts'

const ENTRY = { door: 'Files at /files', right: 'stop' } as const
const LONGEST_NAME = 200

export interface FilesDoorDeps extends Pick<McpDoorDeps, 'mayPass'> {
  doors: Pick<Doors, 'admit' | 'addressOf'>
  files: {
    clock: Clock
    newId: NewId
    store: Pick<Store, 'db' | 'write'>
    /** Tells whether a principal may read and write in a conversation. */
    mayUse: (principal: Principal, conversation: string) => boolean
  }
}

/**
 * Creates `POST /files`, which keeps a file of a person or a program for its next message, and `GET /files/<id>`, which
 * returns it to those who may read that message's conversation. Guests send none.
 */
export function createFilesDoor({ doors, mayPass, files }: FilesDoorDeps): RequestHandler {
  const { clock, newId, store, mayUse } = files
  const router = Router()
  const room = createRoom(clock, doors.addressOf)
  const readPages = createPdfReader(clock)
  const admit = (request: Request): Principal => {
    const caller = doors.admit(request, bearerOf(request), ENTRY)
    if (!may(caller, 'chat'))
      throw new HubError(
        'forbidden',
        `${ENTRY.door}: a token that is narrowed to tools needs hub_chat for files.`,
      )
    if (mayPass(caller)) return caller
    throw new HubError('rate_limited', `${ENTRY.door}: too many requests at once; slow down.`)
  }
  const enter: RequestHandler = (request, response, next) => {
    response.locals['caller'] = admit(request)
    room.enter(request, response)
    next()
  }
  const raw = express.raw({ type: () => true, limit: LARGEST_FILE, inflate: false })
  router.post('/files', enter, raw, async (request, response) => {
    const { name: author } = response.locals['caller'] as Principal
    const name = readName(request)
    const content = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
    // An upload over the quota is not read at all.
    await checkUnsent(store.db, author)
    const text = await readText(content, name, bytes => readPages(bytes, author))
    const row = {
      id: newId('file'),
      author,
      name,
      size: content.length,
      content,
      text,
      created_at: clock.now(),
    }
    await store.write(tx => addFile(tx, row))
    const entry: FileEntry = { id: row.id, name, size: row.size, characters: text.length }
    response.status(201).json(entry)
  })
  router.get('/files/:id', async (request, response) => {
    const caller = admit(request)
    const file = await findFile(store.db, request.params.id)
    const isOpen =
      file &&
      (file.conversation_id === null ? file.author === caller.name : mayUse(caller, file.conversation_id))
    if (!isOpen) throw new HubError('not_found', 'There is no such file, or it is not open to you.')
    response.attachment(file.name)
    // A browser must never show a file of somebody else as a page of the hub.
    response.set({ 'Content-Type': 'application/octet-stream', 'Cache-Control': 'no-store' })
    response.end(file.content)
  })
  return router
}

/** Reads the file's name from the header `X-File-Name`, percent-encoded. */
function readName(request: Request): string {
  const given = request.get('X-File-Name') ?? ''
  try {
    const name = stripUnseen(toLine(decodeURIComponent(given)))
      .split(/[/\\]/)
      .at(-1)
      ?.trim()
      .slice(0, LONGEST_NAME)
    if (name) return name
  } catch (error) {
    throw new HubError('bad_request', 'X-File-Name is not percent-encoded', { cause: error })
  }
  throw new HubError('bad_request', "The header X-File-Name has to give the file's name, percent-encoded.")
}
