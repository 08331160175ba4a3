import type { MOST_PICTURES as HUB_MOST } from '../../schemas/picture.ts'
import type { Picture } from './conversation.ts'

export const MOST_PICTURES: typeof HUB_MOST = 4
/** Most base64 characters of one picture and of all together, below the limits of the hub. */
const MOST_EACH = 690_000
const MOST_TOGETHER = 900_000
/** Longest sides in pixels, tried in turn: models scale larger pictures down themselves. */
const SIDES = [1_568, 1_024, 640, 320]

/** Returns the pictures that a person pasted, dropped or chose. */
export function picturesIn(data: DataTransfer | null) {
  return [...(data?.files ?? [])].filter(file => file.type.startsWith('image/'))
}

/**
 * Converts pictures to what the hub takes: JPEG, small enough to be sent together. Rejects where one cannot be
 * read.
 */
export function toPictures(files: File[]): Promise<Picture[]> {
  const most = Math.min(MOST_EACH, MOST_TOGETHER / Math.max(1, files.length))
  return Promise.all(files.map(file => toPicture(file, most)))
}

async function toPicture(file: File, most: number) {
  const bitmap = await createImageBitmap(file)
  try {
    for (const side of SIDES) {
      const data = draw(bitmap, side)
      if (data.length <= most) return { mimeType: 'image/jpeg' as const, data }
    }
    throw new Error(`${file.name} cannot be made small enough`)
  } finally {
    bitmap.close()
  }
}

function draw(bitmap: ImageBitmap, side: number) {
  const factor = Math.min(1, side / Math.max(bitmap.width, bitmap.height))
  const canvas = document.createElement('canvas')
  canvas.width = Math.max(1, Math.round(bitmap.width * factor))
  canvas.height = Math.max(1, Math.round(bitmap.height * factor))
  const context = canvas.getContext('2d')
  if (!context) throw new Error('this browser cannot draw')
  context.fillStyle = '#fff'
  context.fillRect(0, 0, canvas.width, canvas.height)
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height)
  return canvas.toDataURL('image/jpeg', 0.85).replace(/^data:image\/jpeg;base64,/, '')
}
