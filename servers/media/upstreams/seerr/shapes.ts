import { z } from 'zod'

/* The fields read from Seerr's answers. Fields that a fork lacks, or fills differently, count as absent. */

const text = z.string().nullish()
const number = z.number().nullish()

export const request = z.object({
  id: z.int(),
  status: z.int(),
  type: z.enum(['movie', 'tv']).nullish().catch(undefined),
  is4k: z.boolean().nullish(),
  createdAt: text,
  seasons: z
    .array(z.object({ seasonNumber: z.int() }))
    .nullish()
    .catch(undefined),
  requestedBy: z.object({ displayName: text, username: text, jellyfinUsername: text }).nullish(),
  media: z.object({ mediaType: text, tmdbId: number, status: number, status4k: number }).nullish(),
})
export type SeerrRequest = z.output<typeof request>

export const requestPage = z.object({
  pageInfo: z.object({ results: z.int().default(0) }),
  results: z.array(request),
})

const mediaInfo = z.object({
  status: number,
  status4k: number,
  requests: z.array(request).nullish(),
})

export const found = z.object({
  id: z.int(),
  mediaType: text,
  title: text,
  name: text,
  releaseDate: text,
  firstAirDate: text,
  mediaInfo: mediaInfo.nullish(),
})

export const searchPage = z.object({ results: z.array(found).default([]) })
