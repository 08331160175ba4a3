import { z } from 'zod'

/* The fields read from Jellyfin's answers. Unknown fields are absent or null; ids have dashes or not. */

const text = z.string().nullish()
const number = z.number().nullish()

export const item = z.object({
  Id: z.string(),
  Name: text,
  Type: text,
  ProductionYear: number,
  DateCreated: text,
  Path: text,
  SeriesName: text,
  SeriesId: text,
  ParentIndexNumber: number,
  IndexNumber: number,
  RunTimeTicks: number,
  ProviderIds: z.record(z.string(), z.string().nullable()).nullish(),
})
/** A film, a series, an episode or an album. A tick is a ten millionth of a second. */
export type Item = z.output<typeof item>

export const itemPage = z.object({ Items: z.array(item), TotalRecordCount: z.number().default(0) })

const transcoding = z.object({
  IsVideoDirect: z.boolean().nullish(),
  IsAudioDirect: z.boolean().nullish(),
  VideoCodec: text,
  AudioCodec: text,
  Bitrate: number,
  Width: number,
  Height: number,
  HardwareAccelerationType: text,
  TranscodeReasons: z.array(z.string()).nullish(),
})
export type Transcoding = z.output<typeof transcoding>

export const session = z.object({
  Id: z.string(),
  UserName: text,
  Client: text,
  DeviceName: text,
  SupportedCommands: z.array(z.string()).nullish(),
  NowPlayingItem: item
    .extend({ MediaStreams: z.array(z.object({ Type: text, BitRate: number })).nullish() })
    .nullish(),
  PlayState: z.object({ PositionTicks: number, IsPaused: z.boolean().nullish(), PlayMethod: text }).nullish(),
  TranscodingInfo: transcoding.nullish(),
})
export type Session = z.output<typeof session>
export const sessions = z.array(session)

export const library = z.object({
  Name: text,
  ItemId: text,
  Locations: z.array(z.string()).nullish(),
  RefreshStatus: text,
  RefreshProgress: number,
})
export type Library = z.output<typeof library>
export const libraries = z.array(library)

export const task = z.object({
  Id: text,
  Key: text,
  Name: text,
  State: text,
  CurrentProgressPercentage: number,
})
export const tasks = z.array(task)
