import { cleanText, toSpanText } from '../../../kit/text.ts'
import { toEpisodeNumber, toTitle } from '../arr/queue.ts'
import type { Item, Session, Transcoding } from './shapes.ts'

const TICKS_PER_SECOND = 10_000_000

/** The way in which a session's picture and sound reach the device. */
export interface Delivery {
  method: 'direct' | 'remux' | 'transcode'
  /** Reasons in words, most important first; empty if nothing is converted. */
  reasons: string[]
  /** Bits per second that are sent; undefined if Jellyfin does not report it. */
  bitrate: number | undefined
  /** The target of the conversion: "video to h264, audio to aac, 1920 x 1080, by vaapi". */
  into: string | undefined
}

/** Texts for those names of Jellyfin's reasons that say too little by themselves. */
const REASONS: Readonly<Record<string, string>> = {
  ContainerNotSupported: 'the device cannot open the file format',
  SubtitleCodecNotSupported: 'the subtitles must be burned into the picture',
  AudioIsExternal: 'the sound is in a separate file',
  SecondaryAudioNotSupported: 'the device cannot switch to the second audio track',
  RefFramesNotSupported: 'the video uses more reference frames than the device supports',
  ContainerBitrateExceedsLimit:
    'the bitrate is above the limit of the connection or the quality that was chosen',
  UnknownVideoStreamInfo: 'Jellyfin knows too little about the video',
  UnknownAudioStreamInfo: 'Jellyfin knows too little about the sound',
  DirectPlayError: 'playing it directly failed before',
  VideoRangeTypeNotSupported: 'the device cannot show this kind of HDR',
  StreamCountExceedsLimit: 'the file has more streams than the device can handle',
}

/** Returns who plays what, and where. */
export function toViewer({ UserName, DeviceName, NowPlayingItem: item }: Session) {
  return {
    user: UserName ?? 'somebody',
    title: item ? toItemTitle(item) : 'nothing',
    device: DeviceName ?? 'a device without a name',
  }
}

/** Returns how the session is delivered, and why it is converted. */
export function toDelivery(session: Session): Delivery {
  const info = session.TranscodingInfo
  const method = toMethod(session, info)
  if (method === 'direct' || !info)
    return { method, reasons: [], bitrate: toFileBitrate(session), into: undefined }
  return {
    method,
    reasons: (info.TranscodeReasons ?? []).map(toReasonWords),
    bitrate: info.Bitrate ?? undefined,
    into: method === 'transcode' ? toTarget(info) : undefined,
  }
}

function toMethod(session: Session, info: Transcoding | null | undefined): Delivery['method'] {
  if (info) return info.IsVideoDirect && info.IsAudioDirect ? 'remux' : 'transcode'
  const told = session.PlayState?.PlayMethod
  if (told === 'Transcode') return 'transcode'
  return told === 'DirectStream' ? 'remux' : 'direct'
}

function toReasonWords(reason: string): string {
  const toWords = (name: string) =>
    cleanText(name, 60)
      .replace(/([a-z])([A-Z])/g, '$1 $2')
      .toLowerCase()
  const lacking = /^(.+)NotSupported$/.exec(reason)?.[1]
  const told = lacking
    ? `the device does not support the ${toWords(lacking)}`
    : `Jellyfin says ${toWords(reason)}`
  return REASONS[reason] ?? told
}

function toTarget(info: Transcoding): string {
  const size = info.Width && info.Height ? `${info.Width} x ${info.Height}` : undefined
  const hardware = info.HardwareAccelerationType
  const parts = [
    info.IsVideoDirect ? undefined : `video to ${info.VideoCodec ?? 'another codec'}`,
    info.IsAudioDirect ? undefined : `audio to ${info.AudioCodec ?? 'another codec'}`,
    info.IsVideoDirect ? undefined : size,
    hardware && hardware !== 'none' ? `by ${hardware}` : undefined,
  ]
  return parts.flatMap(part => (part === undefined ? [] : cleanText(part, 60))).join(', ')
}

function toFileBitrate(session: Session): number | undefined {
  const rates = (session.NowPlayingItem?.MediaStreams ?? []).map(stream => stream.BitRate ?? 0)
  const total = rates.reduce((sum, rate) => sum + rate, 0)
  return total > 0 ? total : undefined
}

/** Returns "Dune (2021)" or "Severance S02E03 Who Is Alive?". */
export function toItemTitle(item: Item): string {
  const name = item.Name ?? 'something without a name'
  if (item.Type !== 'Episode' || !item.SeriesName) return toTitle(name, item.ProductionYear)
  const { ParentIndexNumber: season, IndexNumber: episode } = item
  const number =
    typeof season === 'number' && typeof episode === 'number' ? `${toEpisodeNumber(season, episode)} ` : ''
  return `${item.SeriesName} ${number}${name}`
}

export function toSeconds(ticks: number): number {
  return Math.round(ticks / TICKS_PER_SECOND)
}

/** Returns the position: "at 41 min of 2 h 35 min". */
export function toPositionText(session: Session): string | undefined {
  const at = session.PlayState?.PositionTicks
  const all = session.NowPlayingItem?.RunTimeTicks
  if (typeof at !== 'number') return undefined
  const where = `at ${toSpanText(toSeconds(at))}`
  return all ? `${where} of ${toSpanText(toSeconds(all))}` : where
}

/** Formats bits per second in the unit of video: "8.4 Mbit/s". */
export function toBitrateText(bits: number): string {
  return bits >= 1_000_000 ? `${Math.round(bits / 100_000) / 10} Mbit/s` : `${Math.round(bits / 1000)} kbit/s`
}
