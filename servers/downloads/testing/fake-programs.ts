import type { FaultyUpstream } from '../../kit/testing/faulty-upstream.ts'
import type { ClientKind } from '../upstreams/download-client.ts'
import { startFakeQbittorrent } from './fake-qbittorrent.ts'
import { startFakeSabnzbd } from './fake-sabnzbd.ts'
import { startFakeTransmission } from './fake-transmission.ts'

/**
 * A fake of one program over real HTTP, which carries out its requests. It starts with one loading, one
 * completed and one failed download.
 */
export interface FakeProgram {
  kind: ClientKind
  upstream: FaultyUpstream
  environment: Record<string, string>
  /** Returns the requests besides reads and logins: "POST /path name=value …". */
  changes(): string[]
  /** Returns everything that a client can change, for comparisons. */
  state(): unknown
  /**
   * Delays every change until after this number of reads, like programs that answer before they have
   * finished.
   */
  lag(reads: number): void
  /** Makes the next start of a torrent have no effect, as in Transmission while a stop is running. */
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
