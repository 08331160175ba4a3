import type { ModelImage, ModelMessage, UserMessage } from '../../core/model.ts'
import { type Picture, readPicture } from '../../core/picture.ts'
import { plural } from '../../core/text.ts'
import { type HistoryForm, userMessage } from './form.ts'

/**
 * Puts pictures where the provider takes them. Where results may not hold pictures, those of a step follow
 * its last result as a user's message. A line of text stands for data that is no picture, and for each
 * picture where the model sees none.
 */
export function placeImages(messages: readonly ModelMessage[], where: HistoryForm['images']): ModelMessage[] {
  const placed: ModelMessage[] = []
  let moved: { from: string; image: ModelImage }[] = []
  const flush = () => {
    if (moved.length > 0) placed.push(toMoved(moved))
    moved = []
  }
  for (const message of messages) {
    if (message.role !== 'tool') flush()
    if (message.role === 'assistant' || !message.images?.length) {
      placed.push(message)
      continue
    }
    const isMoved = message.role === 'tool' && where === 'user'
    const { images, lines } = sortOut(message.images, where, isMoved)
    if (isMoved) moved.push(...images.map(image => ({ from: message.name, image })))
    const text = lines.length === 0 ? message.text : [message.text, ...lines].join('\n').trimStart()
    placed.push({ ...message, text, images: isMoved || images.length === 0 ? undefined : images })
  }
  flush()
  return placed
}

/** Returns the pictures that are sent, and lines that stand for the others or say where pictures follow. */
function sortOut(given: readonly ModelImage[], where: HistoryForm['images'], isMoved: boolean) {
  const images: ModelImage[] = []
  const lines: string[] = []
  for (const image of given) {
    const picture = readPicture(image.data)
    const name = describe(image, picture)
    if (!picture) lines.push(`[picture: ${name} — it cannot be read]`)
    else if (where === 'none') lines.push(`[picture: ${name} — this model cannot see it]`)
    else {
      images.push({ ...image, mimeType: picture.mimeType })
      if (isMoved) lines.push(`[picture: ${name} — it follows the results]`)
    }
  }
  return { images, lines }
}

function describe({ mimeType }: ModelImage, picture: Picture | undefined): string {
  const kind = picture?.mimeType ?? mimeType
  return picture?.size ? `${kind}, ${picture.size.width}×${picture.size.height}` : kind
}

function toMoved(moved: readonly { from: string; image: ModelImage }[]): UserMessage {
  const names = moved.map(({ from }) => from).join(', ')
  return userMessage(
    `[${plural(moved.length, 'picture')} of the results above, in this order: ${names}]`,
    moved.map(({ image }) => image),
  )
}
