import { z } from 'zod'

/* The fields read from Radarr's and Sonarr's answers; objects that are sent back keep all other fields. */

const text = z.string().nullish()
const flag = z.boolean().nullish()
const named = z.object({ title: z.string(), year: z.int().default(0) }).nullish()

const season = z.looseObject({ seasonNumber: z.int(), monitored: flag })

const statistics = z.looseObject({
  episodeFileCount: z.int().default(0),
  /** Number of episodes that are monitored and aired, or have a file. */
  episodeCount: z.int().default(0),
})

/** A film of Radarr or a series of Sonarr; each has only some of the fields. */
export const title = z.looseObject({
  /** 0 or absent if the program does not manage it. */
  id: z.int().nullish(),
  title: z.string(),
  year: z.int().default(0),
  tmdbId: z.int().nullish(),
  tvdbId: z.int().nullish(),
  monitored: flag,
  hasFile: flag,
  /** True if the film's release has reached the chosen minimum availability. */
  isAvailable: flag,
  inCinemas: text,
  digitalRelease: text,
  physicalRelease: text,
  nextAiring: text,
  seasons: z.array(season).nullish(),
  statistics: statistics.nullish(),
})
export type Title = z.output<typeof title>

export const episode = z.object({
  id: z.int(),
  seasonNumber: z.int().default(0),
  episodeNumber: z.int().default(0),
  title: text,
  airDateUtc: text,
  hasFile: flag,
  monitored: flag,
  series: named,
})
export type Episode = z.output<typeof episode>

export const queueItem = z.object({
  id: z.int(),
  title: text,
  movieId: z.int().nullish(),
  seriesId: z.int().nullish(),
  status: text,
  trackedDownloadStatus: text,
  trackedDownloadState: text,
  statusMessages: z.array(z.object({ title: text, messages: z.array(z.string()).nullish() })).nullish(),
  errorMessage: text,
  size: z.number().default(0),
  sizeleft: z.number().default(0),
  movie: named,
  series: named,
  episode: z.object({ seasonNumber: z.int().default(0), episodeNumber: z.int().default(0) }).nullish(),
})
export type QueueItem = z.output<typeof queueItem>

export const historyEntry = z.object({
  episodeId: z.int().nullish(),
  date: text,
  eventType: text,
  data: z.record(z.string(), z.unknown()).nullish(),
})
export type HistoryEntry = z.output<typeof historyEntry>

export const indexer = z.object({ enableAutomaticSearch: flag })
export const healthItem = z.object({ source: text, type: text, message: text })
export const profile = z.object({ id: z.int(), name: z.string() })
export const rootFolder = z.object({
  path: z.string(),
  accessible: flag,
  freeSpace: z.number().nullish(),
})

/** A page of a long list. */
export const paged = <Record extends z.ZodType>(record: Record) =>
  z.object({ totalRecords: z.int().default(0), records: z.array(record).default([]) })
