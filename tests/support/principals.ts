import type { Principal } from '../../hub/core/principal.ts'

export const OWNER_PRINCIPAL: Principal = { id: 'owner', name: 'owner', role: 'owner' }
