import { z } from 'zod'

/** The files of https, relative to the folder of the config file. */
export const tls = z.strictObject({
  cert: z.string().min(1).describe('file of the certificate, with what leads to its authority (PEM)'),
  key: z.string().min(1).describe('file of its key (PEM)'),
})
