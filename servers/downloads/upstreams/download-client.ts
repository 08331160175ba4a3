/** The programs that this server supports. */
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
 * `queued` waits for its turn, `stalled` has no peers to load from, `fetching` has no list of files yet,
 * `processing` is loaded and is being verified, unpacked or moved.
 */
export type DownloadState = (typeof DOWNLOAD_STATES)[number]

export const PRIORITIES = ['first', 'high', 'normal', 'low'] as const
export type Priority = (typeof PRIORITIES)[number]

/** An unfinished download. Sizes are bytes. */
export interface Download {
  /** The client's own id, which never changes. */
  readonly id: string
  readonly name: string
  readonly state: DownloadState
  /** 0 while the size is not known. */
  readonly size: number
  readonly left: number
  /** Bytes per second, if the client reports it for each download. */
  readonly speed?: number | undefined
  /** Seconds until it is complete, if that is known. */
  readonly eta?: number | undefined
  readonly category?: string | undefined
  /** The priority in the client's own terms: "high", "1st of 4". */
  readonly priority?: string | undefined
  /** The reason why it failed or makes no progress. */
  readonly reason?: string | undefined
}

/** A download that completed, or failed for good. */
export interface Finished {
  readonly id: string
  readonly name: string
  readonly outcome: 'completed' | 'failed'
  /** Bytes. */
  readonly size: number
  /** Identifies this ending, and differs if the same download is added or tried again. */
  readonly key: string
  /** True if it is a failed torrent, which may continue and fail again. */
  readonly recoverable: boolean
  /** Unix milliseconds, if the client reports it. */
  readonly at?: number | undefined
  readonly category?: string | undefined
  readonly reason?: string | undefined
  /** True while a torrent still seeds. */
  readonly seeding?: boolean | undefined
  /** Bytes that a removal with its data would delete; undefined if the client deletes nothing. */
  readonly deletable?: number | undefined
}

/** A client's whole state at one moment. */
export interface Snapshot {
  /** True if nothing is loaded because everything was paused. */
  readonly paused: boolean
  /** Unix milliseconds at which the client itself resumes after a timed pause. */
  readonly resumesAt?: number | undefined
  /** Bytes per second of all downloads together. */
  readonly speed: number
  /** Bytes per second; undefined without a limit. */
  readonly limit?: number | undefined
  /** Free bytes in the download folder; undefined if the client does not report it. */
  readonly free?: number | undefined
  /** Bytes that the downloads still need, without those that were paused one by one. */
  readonly needed: number
  /** Unfinished downloads in the order of the queue. */
  readonly downloads: readonly Download[]
  /** Finished downloads, latest first. */
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
  /** True to add it without starting it. */
  paused: boolean
}

export interface Added {
  /** Undefined if the client does not report the id of the addition. */
  id?: string | undefined
  name?: string | undefined
  /** True if the client had it before and added nothing. */
  known: boolean
  /** A further remark, as a whole sentence. */
  note?: string | undefined
}

/**
 * One download client. Every call sends a new request. It rejects with a ToolFailure (mostly an
 * UpstreamFailure) if the program refuses or fails, or with the signal's reason.
 */
export interface DownloadClient {
  readonly kind: ClientKind
  /** The client's name in sentences: "SABnzbd (attic)". */
  readonly title: string
  /** The address without secrets. */
  readonly address: string
  /** True if the client has timed pauses of its own. */
  readonly ownTimer: boolean
  /** The kind of file that it accepts. */
  readonly takes: 'nzb' | 'torrent'
  readSnapshot(signal?: AbortSignal): Promise<Snapshot>
  /** Returns its version, by a request that also checks the key or password. */
  version(): Promise<string>
  /**
   * Pauses all downloads. `minutes` needs `ownTimer`. Returns the ids that it paused, if the client has no
   * global pause and pauses them one by one.
   */
  pauseAll(options: { minutes?: number | undefined }, signal?: AbortSignal): Promise<string[] | undefined>
  /**
   * Resumes everything, or only the downloads in `only` if the client pauses one by one; unknown ids are
   * ignored.
   */
  resumeAll(options: { only?: readonly string[] | undefined }, signal?: AbortSignal): Promise<void>
  pause(id: string, signal?: AbortSignal): Promise<void>
  resume(id: string, signal?: AbortSignal): Promise<void>
  /** Limits all downloads together, in bytes per second; 0 for no limit. */
  setLimit(bytesPerSecond: number, signal?: AbortSignal): Promise<void>
  /** Resolves with a whole sentence if the result is less than was requested. */
  setPriority(id: string, priority: Priority, signal?: AbortSignal): Promise<string | undefined>
  add(download: NewDownload, signal?: AbortSignal): Promise<Added>
  /** Removes a download. `list` tells whether it is unfinished or finished. */
  remove(
    id: string,
    options: { list: 'downloads' | 'finished'; withData: boolean },
    signal?: AbortSignal,
  ): Promise<void>
}
