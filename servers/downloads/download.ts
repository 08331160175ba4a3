/** The programs that this server knows. */
export type ClientKind = 'sabnzbd' | 'qbittorrent' | 'transmission'

export const DOWNLOAD_STATES = [
  'downloading',
  'queued',
  'stalled',
  'paused',
  'fetching',
  'checking',
  'processing',
  'failed',
] as const
/**
 * `queued` waits for its turn, `stalled` finds nobody to load from, `fetching` has no list of files yet, `processing` is
 * loaded and gets verified, unpacked or moved.
 */
export type DownloadState = (typeof DOWNLOAD_STATES)[number]

export const PRIORITIES = ['first', 'high', 'normal', 'low'] as const
export type Priority = (typeof PRIORITIES)[number]

/** A download that is not finished. Sizes are bytes. */
export interface Download {
  /** The client's own id; it stays the same. */
  readonly id: string
  readonly name: string
  readonly state: DownloadState
  /** 0 while it is not known. */
  readonly size: number
  readonly left: number
  /** Bytes a second, where the client tells it for each. */
  readonly speed?: number | undefined
  /** Seconds until it is done, where that can be said. */
  readonly eta?: number | undefined
  readonly category?: string | undefined
  /** "high", "1st of 4": in the client's own terms. */
  readonly priority?: string | undefined
  /** Why it failed or does not get on. */
  readonly reason?: string | undefined
}

/** A download that completed, or failed for good. */
export interface Finished {
  readonly id: string
  readonly name: string
  readonly outcome: 'completed' | 'failed'
  /** Bytes. */
  readonly size: number
  /** Tells this ending from others, also of the same download added or tried again. */
  readonly key: string
  /** True of a torrent that failed: it may get on again, and fail again. */
  readonly recoverable: boolean
  /** Unix milliseconds, where the client tells it. */
  readonly at?: number | undefined
  readonly category?: string | undefined
  readonly reason?: string | undefined
  /** True while a torrent is still shared with others. */
  readonly seeding?: boolean | undefined
  /** Bytes of it that a removal with its data would delete; undefined where the client deletes nothing. */
  readonly deletable?: number | undefined
}

/** Everything that a client tells at one moment. */
export interface Snapshot {
  /** True where nothing is loaded because all was paused. */
  readonly paused: boolean
  /** Unix milliseconds at which the client itself goes on after a timed pause. */
  readonly resumesAt?: number | undefined
  /** Bytes a second, all together. */
  readonly speed: number
  /** Bytes a second; undefined where there is no limit. */
  readonly limit?: number | undefined
  /** Bytes free where it loads to; undefined where the client does not tell. */
  readonly free?: number | undefined
  /** Bytes that what is not paused by itself still needs. */
  readonly needed: number
  /** In the order of the queue. */
  readonly downloads: readonly Download[]
  /** The latest first. */
  readonly finished: readonly Finished[]
}

export type Source =
  | { kind: 'url'; url: string }
  | { kind: 'magnet'; url: string }
  | { kind: 'torrent'; bytes: Uint8Array; fileName: string }
  | { kind: 'nzb'; bytes: Uint8Array; fileName: string }

export interface NewDownload {
  source: Source
  category?: string | undefined
  /** Added, but not begun. */
  paused: boolean
}

export interface Added {
  /** Undefined where the client does not tell what became of it. */
  id?: string | undefined
  name?: string | undefined
  /** True where the client had it before, and nothing was added. */
  known: boolean
  /** What else there is to say: a whole sentence. */
  note?: string | undefined
}

/**
 * One download client. Every call asks the program anew, and rejects with a ToolFailure (mostly an UpstreamFailure)
 * where it does not do as asked, or with the signal's reason.
 */
export interface DownloadClient {
  readonly kind: ClientKind
  /** "SABnzbd (attic)": in sentences. */
  readonly title: string
  /** Fit to be shown. */
  readonly address: string
  /** True where it knows timed pauses itself. */
  readonly ownTimer: boolean
  /** What it can take. */
  readonly takes: 'nzb' | 'torrent'
  look(signal?: AbortSignal): Promise<Snapshot>
  /** Its version, asked for in a way that also shows whether the key or password is right. */
  version(): Promise<string>
  /**
   * Stops all loading. `minutes` only where `ownTimer`. Gives the ids that it paused one by one, where the client has no
   * pause as a whole.
   */
  pauseAll(options: { minutes?: number | undefined }, signal?: AbortSignal): Promise<string[] | undefined>
  /** Goes on with all, or, where a client pauses one by one, with those of `only`; unknown ids are passed over. */
  resumeAll(options: { only?: readonly string[] | undefined }, signal?: AbortSignal): Promise<void>
  pause(id: string, signal?: AbortSignal): Promise<void>
  resume(id: string, signal?: AbortSignal): Promise<void>
  /** Bytes a second; 0 for no limit. */
  setLimit(bytesPerSecond: number, signal?: AbortSignal): Promise<void>
  /** Resolves with what came of it, where that is less than was asked: a whole sentence. */
  setPriority(id: string, priority: Priority, signal?: AbortSignal): Promise<string | undefined>
  add(download: NewDownload, signal?: AbortSignal): Promise<Added>
  /** `list` says where the download stands: unfinished, or finished. */
  remove(
    id: string,
    options: { list: 'downloads' | 'finished'; withData: boolean },
    signal?: AbortSignal,
  ): Promise<void>
}
