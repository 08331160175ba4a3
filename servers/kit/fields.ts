import { z } from 'zod'
import { cleanText, toTenth } from './text.ts'

/** A name from the machine or from the settings, cleaned for an output. See `foreignText` for texts of others. */
export const cleanedText = (max = 200) => z.string().overwrite(text => cleanText(text, max))

/** A figure with at most one decimal in an output. */
export const tenths = () => z.number().overwrite(toTenth)
