import { expect, test } from 'vitest'
import { ARRIVAL, toEpisode, toTranscodingSession } from '../../../../tests/lab/jellyfin.ts'
import { toBitrateText, toDelivery, toItemTitle } from './playing.ts'
import { item, session } from './shapes.ts'

const toSession = (info: Record<string, unknown> | undefined, method?: string) =>
  session.parse({
    Id: '1',
    NowPlayingItem: { ...ARRIVAL, MediaStreams: [{ BitRate: 9_000_000 }, { BitRate: 640_000 }] },
    PlayState: { PlayMethod: method },
    TranscodingInfo: info,
  })

test.each([
  ['plays the file', undefined, 'DirectPlay', { method: 'direct', bitrate: 9_640_000, into: undefined }],
  [
    'repacks it',
    { IsVideoDirect: true, IsAudioDirect: true, Bitrate: 5 },
    'Transcode',
    { method: 'remux', into: undefined },
  ],
  ['repacks it, by what it says', undefined, 'DirectStream', { method: 'remux' }],
  [
    'converts the sound',
    { IsVideoDirect: true, AudioCodec: 'aac' },
    'Transcode',
    { method: 'transcode', into: 'audio to aac' },
  ],
  [
    'converts all',
    { VideoCodec: 'h264', Width: 1280, Height: 720, HardwareAccelerationType: 'none' },
    'Transcode',
    { method: 'transcode', into: 'video to h264, audio to another codec, 1280 x 720' },
  ],
])('who %s is told so', (_what, info, method, delivery) => {
  expect(toDelivery(toSession(info, method))).toMatchObject(delivery)
})

test('titles say what a person would say', () => {
  expect(toItemTitle(item.parse(ARRIVAL))).toBe('Arrival (2016)')
  expect(toItemTitle(item.parse(toEpisode(2, 3)))).toBe('Severance S02E03 Chapter 3')
  expect(toItemTitle(item.parse({ Id: '1' }))).toBe('something without a name')
})

test('a bitrate has its unit', () => {
  expect([8_400_000, 640_000].map(toBitrateText)).toEqual(['8.4 Mbit/s', '640 kbit/s'])
  expect(toDelivery(session.parse(toTranscodingSession())).bitrate).toBe(8_400_000)
})

test('what Jellyfin says in words of its own is cleaned and cut', () => {
  const odd = `\u001b[31mNew${'x'.repeat(5000)}`
  const info = { VideoCodec: odd, HardwareAccelerationType: odd, TranscodeReasons: [odd] }
  const { reasons, into } = toDelivery(toSession(info))
  for (const text of [reasons.join(), into ?? '']) {
    expect(text).not.toContain('\u001b')
    expect(text.length).toBeLessThan(300)
  }
})
