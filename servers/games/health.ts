import type { UpstreamHealth } from '../../schemas/health.ts'
import type { Engine } from '../kit/engine/engine.ts'
import { toNoEngine } from '../kit/engine/find-engines.ts'
import { checkHealth } from '../kit/health.ts'
import type { Games } from './games.ts'

const KIND = 'container engine'

/** Whether the container engines answer. Where a declared game needs one and none is there, that is told. */
export async function checkEngines(
  engines: () => readonly Engine[],
  games: Games,
): Promise<UpstreamHealth[]> {
  const found = engines()
  const needed = games.declared.some(game => game.backend.kind === 'docker')
  if (found.length === 0 && needed) {
    const nowhere = { name: 'docker', kind: KIND, address: 'none' }
    return [await checkHealth(nowhere, () => Promise.reject(toNoEngine()))]
  }
  return await Promise.all(
    found.map(engine =>
      checkHealth({ name: engine.name, kind: KIND, address: engine.address }, () => engine.version()),
    ),
  )
}
