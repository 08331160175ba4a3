import type { FileEntry, MOST_FILES as HUB_MOST_FILES, LARGEST_FILE } from '../../schemas/files.ts'
import type { MOST_PICTURES as HUB_MOST } from '../../schemas/picture.ts'
import type { Picture } from './conversation.ts'

const MOST_PICTURES: typeof HUB_MOST = 4
const MOST_FILES: typeof HUB_MOST_FILES = 8
const LARGEST: typeof LARGEST_FILE = 10_485_760
/** Most base64 characters of one picture and of all together, below the limits of the hub. */
const MOST_EACH = 690_000
const MOST_TOGETHER = 900_000
/** Longest sides in pixels, tried in turn: models scale larger pictures down themselves. */
const SIDES = [1_568, 1_024, 640, 320]

/** Returns the files that a person pasted or dropped. */
export function filesIn(data: DataTransfer | null) {
  return [...(data?.files ?? [])]
}

function isPicture(file: File) {
  return file.type.startsWith('image/')
}

/** Returns the files that one message can take, and why others cannot go with it. */
export function chooseFiles(chosen: File[], mayUpload: boolean) {
  const pictures = chosen.filter(isPicture).slice(0, MOST_PICTURES)
  const others = chosen
    .filter(file => mayUpload && !isPicture(file) && file.size <= LARGEST)
    .slice(0, MOST_FILES)
  const kept = chosen.filter(file => pictures.includes(file) || others.includes(file))
  const why = mayUpload
    ? `A message takes ${MOST_PICTURES} pictures and ${MOST_FILES} files of up to 10 MB each; the others were left out.`
    : `You can send up to ${MOST_PICTURES} pictures, and no other files.`
  return { kept, why: kept.length === chosen.length ? '' : why }
}

/** Makes the pictures small enough and sends the other files to the hub. Rejects with words for a person. */
export async function toBeside(chosen: File[], upload: ((file: File) => Promise<FileEntry>) | null) {
  const images = await toPictures(chosen.filter(isPicture))
  const files: FileEntry[] = []
  for (const file of chosen) if (upload && !isPicture(file)) files.push(await upload(file))
  return { ...(images.length > 0 && { images }), ...(files.length > 0 && { files }) }
}

/** Converts pictures to what the hub takes: JPEG, small enough to be sent together. */
function toPictures(files: File[]): Promise<Picture[]> {
  const most = Math.min(MOST_EACH, MOST_TOGETHER / Math.max(1, files.length))
  return Promise.all(files.map(file => toPicture(file, most)))
}

async function toPicture(file: File, most: number) {
  const bitmap = await createImageBitmap(file).catch(cause => {
    throw new Error(`${file.name} could not be read. Try it as a PNG or JPEG.`, { cause })
  })
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
