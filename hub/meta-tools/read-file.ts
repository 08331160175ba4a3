import { z } from 'zod'
import { fileId } from '../../schemas/files.ts'
import { quote } from '../core/text.ts'
import { readFileText } from '../store/files.ts'
import { defineMetaTool, done, refused } from './meta-tool.ts'

/** Characters that one call reads. */
const PART = 8_000

export const readFile = defineMetaTool({
  name: 'read_file',
  title: 'Read a file',
  description:
    'Reads on in the text of a file that came with a message: from an offset, or from the next place where some words stand.',
  input: z.strictObject({
    file: fileId,
    offset: z.int().nonnegative().default(0).describe('characters before the part'),
    find: z.string().min(1).max(200).optional().describe('words to go to, from the offset on'),
  }),
  readOnly: true,
  async run(tx, { file: id, offset, find }, { agent }, { agentsOf }) {
    const file = await readFileText(tx, id)
    if (!file?.conversation_id || !agentsOf(file.conversation_id).includes(agent))
      return refused(`file: there is no file ${id} in your conversations, or it is too old`)
    const { text, name } = file
    const at = find === undefined ? offset : text.toLowerCase().indexOf(find.toLowerCase(), offset)
    if (at > text.length) return refused(`offset: ${name} has ${text.length} characters`)
    if (at === -1) return refused(`find: these words do not stand in ${name} after offset ${offset}`)
    const part = text.slice(at, at + PART)
    const end = at + part.length
    const more = end < text.length ? `; go on with offset ${end}` : '; this is the end'
    const structured = { name, offset: at, end, characters: text.length }
    return done(`Characters ${at} to ${end} of ${text.length}${more}.\n${quote(part)}`, structured, true)
  },
})
