import type { FaultyUpstream } from '../../kit/testing/faulty-upstream.ts'
import type { ClientKind } from '../download.ts'
import { startFakeQbittorrent } from './fake-qbittorrent.ts'
import { startFakeSabnzbd } from './fake-sabnzbd.ts'
import { startFakeTransmission } from './fake-transmission.ts'

/**
 * A fake of one program over real HTTP, which does what it is told: it begins with one download that loads, one that
 * completed, and one that failed.
 */
export interface FakeProgram {
  kind: ClientKind
  upstream: FaultyUpstream
  environment: Record<string, string>
  /** What was asked besides reading and logging in: "POST /path name=value …". */
  changes(): string[]
  /** Everything that a client can change, to be compared. */
  state(): unknown
  /** A change is shown only after so many reads, as programs do that answer before they have done it. */
  lag(reads: number): void
  /** The next start of a torrent is not carried out, as by Transmission while a stop is under way. */
  dropNextStart?(): void
}

export function startFakeProgram(kind: ClientKind): Promise<FakeProgram> {
  switch (kind) {
    case 'sabnzbd':
      return startFakeSabnzbd()
    case 'qbittorrent':
      return startFakeQbittorrent()
    case 'transmission':
      return startFakeTransmission()
    default:
      return kind satisfies never
  }
}
