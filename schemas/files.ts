import { z } from 'zod'

/** Most files beside one message, and bytes of one file. */
export const MOST_FILES = 8
export const LARGEST_FILE = 10_485_760
/** Characters of a file's text that an agent sees at once. */
export const LONGEST_FILE_HEAD = 6_000

export const fileId = z.string().regex(/^file_[\w-]{1,80}$/, 'is the id that POST /files answered with')

export const fileIds = z.array(fileId).max(MOST_FILES, `at most ${MOST_FILES} files at once`)

/** A file as lists and messages show it; `characters` counts its text. */
export const fileEntry = z.object({
  id: z.string(),
  name: z.string(),
  size: z.int(),
  characters: z.int(),
})
export type FileEntry = z.infer<typeof fileEntry>

/** A file in an agent's inbox, with the beginning of its text. */
export const inboxFile = fileEntry.extend({ head: z.string() })
