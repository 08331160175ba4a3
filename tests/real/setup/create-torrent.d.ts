/** Declares the package, which has no types. */
declare module 'create-torrent' {
  function createTorrent(
    input: Buffer,
    options: object,
    done: (error: Error | null, torrent: Uint8Array) => void,
  ): void
  export = createTorrent
}
