import type { NamedClient } from '../upstreams/clients.ts'
import type { Download, Finished, Snapshot } from '../upstreams/download-client.ts'

export const GIB = 2 ** 30

export function fakeDownload(download: Partial<Download> = {}): Download {
  return { id: 'd1', name: 'Lab.Show', state: 'downloading', size: 2 * GIB, left: GIB, ...download }
}

export function fakeFinished(finished: Partial<Finished> = {}): Finished {
  return {
    id: 'f1',
    name: 'Lab.Film',
    outcome: 'completed',
    size: GIB,
    key: `${finished.id ?? 'f1'}:1`,
    recoverable: false,
    ...finished,
  }
}

/** A client in memory whose snapshot the test sets; `resumed` records its resume calls. */
export interface FakeClient extends NamedClient {
  snapshot: Snapshot
  down: boolean
  resumed: (readonly string[] | undefined)[]
}

export function createFakeClient(name = 'qbittorrent'): FakeClient {
  const unused = async () => {
    throw new Error('not in this test')
  }
  const fake: FakeClient = {
    name,
    require: () => undefined,
    down: false,
    resumed: [],
    snapshot: { paused: false, speed: 0, needed: 0, downloads: [], finished: [] },
    kind: 'qbittorrent',
    title: 'qBittorrent',
    address: 'http://nas:8080',
    ownTimer: false,
    takes: 'torrent',
    version: unused,
    async readSnapshot() {
      if (fake.down) throw new Error('it is down')
      return fake.snapshot
    },
    async resumeAll({ only }) {
      if (fake.down) throw new Error('it is down')
      fake.resumed.push(only)
    },
    pauseAll: unused,
    pause: unused,
    resume: unused,
    setLimit: unused,
    setPriority: unused,
    add: unused,
    remove: unused,
  }
  return fake
}
