import { z } from 'zod'

/* The fields read from Radarr's and Sonarr's answers; objects that are sent back keep all other fields. */

const text = z.string().nullish()
const flag = z.boolean().nullish()

export const movie = z.looseObject({
  /** 0 or absent if Radarr does not manage it. */
  id: z.int().nullish(),
  title: z.string(),
  year: z.int().default(0),
  tmdbId: z.int().default(0),
  status: text,
  hasFile: flag,
  monitored: flag,
  /** True if its release has reached the chosen minimum availability. */
  isAvailable: flag,
  inCinemas: text,
  digitalRelease: text,
  physicalRelease: text,
  sizeOnDisk: z.number().nullish(),
})
export type Movie = z.output<typeof movie>

const statistics = z.object({
  episodeFileCount: z.int().default(0),
  /** Number of episodes that are monitored and aired, or have a file. */
  episodeCount: z.int().default(0),
  totalEpisodeCount: z.int().default(0),
  sizeOnDisk: z.number().default(0),
})

export const season = z.looseObject({
  seasonNumber: z.int(),
  monitored: flag,
  statistics: z.looseObject(statistics.shape).nullish(),
})

export const series = z.looseObject({
  id: z.int().nullish(),
  title: z.string(),
  year: z.int().default(0),
  tvdbId: z.int().default(0),
  tmdbId: z.int().nullish(),
  status: text,
  monitored: flag,
  firstAired: text,
  nextAiring: text,
  seasons: z.array(season).default([]),
  statistics: z.looseObject(statistics.shape).nullish(),
})
export type Series = z.output<typeof series>

export const episode = z.object({
  id: z.int(),
  seriesId: z.int().default(0),
  seasonNumber: z.int().default(0),
  episodeNumber: z.int().default(0),
  title: text,
  airDateUtc: text,
  hasFile: flag,
  monitored: flag,
  series: z.object({ title: z.string(), year: z.int().default(0) }).nullish(),
})
export type Episode = z.output<typeof episode>

export const queueItem = z.object({
  id: z.int(),
  title: text,
  movieId: z.int().nullish(),
  seriesId: z.int().nullish(),
  seasonNumber: z.int().nullish(),
  status: text,
  trackedDownloadStatus: text,
  trackedDownloadState: text,
  statusMessages: z.array(z.object({ title: text, messages: z.array(z.string()).nullish() })).nullish(),
  errorMessage: text,
  size: z.number().default(0),
  sizeleft: z.number().default(0),
  estimatedCompletionTime: text,
  downloadClient: text,
  indexer: text,
  movie: z.object({ title: z.string(), year: z.int().default(0) }).nullish(),
  series: z.object({ title: z.string(), year: z.int().default(0) }).nullish(),
  episode: z
    .object({ seasonNumber: z.int().default(0), episodeNumber: z.int().default(0), title: text })
    .nullish(),
})
export type QueueItem = z.output<typeof queueItem>

export const historyEntry = z.object({
  id: z.int().default(0),
  episodeId: z.int().nullish(),
  sourceTitle: text,
  date: text,
  eventType: text,
  data: z.record(z.string(), z.unknown()).nullish(),
})
export type HistoryEntry = z.output<typeof historyEntry>

export const indexer = z.object({ name: text, enableAutomaticSearch: flag, enableRss: flag })
export type Indexer = z.output<typeof indexer>

export const healthItem = z.object({ source: text, type: text, message: text })
export type HealthItem = z.output<typeof healthItem>

export const profile = z.object({ id: z.int(), name: z.string() })
export const rootFolder = z.object({
  id: z.int(),
  path: z.string(),
  accessible: flag,
  freeSpace: z.number().nullish(),
})
export const command = z.object({ id: z.int(), status: text })
export const systemStatus = z.object({ version: text })

/** A page of a long list. */
export const paged = <Record extends z.ZodType>(record: Record) =>
  z.object({ totalRecords: z.int().default(0), records: z.array(record).default([]) })
