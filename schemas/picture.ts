import { z } from 'zod'

/** What models take. */
export const pictureTypes = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'] as const

/** So many stand beside one message or one result. */
export const MOST_PICTURES = 4
/** The most characters of base64: what models take well at 1568 pixels, and what fits into a frame. */
export const LONGEST_PICTURE = 700_000

/** A picture that a person sends. `data` is base64. */
export const picture = z.strictObject({
  mimeType: z.enum(pictureTypes),
  data: z.base64().min(1).max(LONGEST_PICTURE, 'a picture has at most 500 KB; send it smaller'),
})

export const pictures = z.array(picture).max(MOST_PICTURES, `at most ${MOST_PICTURES} pictures at once`)

/** A picture as the store holds it. */
export const storedPicture = z.object({ mimeType: z.string(), data: z.string() })
