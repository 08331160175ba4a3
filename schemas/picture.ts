import { z } from 'zod'

/** Types of pictures that models take. */
export const pictureTypes = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'] as const

/** Most pictures beside one message or one result. */
export const MOST_PICTURES = 4
/** Most characters of base64: enough for 1568 pixels, which models take well, and few enough for a frame. */
export const LONGEST_PICTURE = 700_000

/** A picture that a person sends. `data` is base64. */
export const picture = z.strictObject({
  mimeType: z.enum(pictureTypes),
  data: z.base64().min(1).max(LONGEST_PICTURE, 'a picture has at most 500 KB; send it smaller'),
})

export const pictures = z.array(picture).max(MOST_PICTURES, `at most ${MOST_PICTURES} pictures at once`)

/** A picture in the store. */
export const storedPicture = z.object({ mimeType: z.string(), data: z.string() })
