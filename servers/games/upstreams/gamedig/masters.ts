/**
 * Protocols of gamedig 5.3.3 that ask a list on the internet instead of the game server, with the host that
 * they ask. They are refused: a homelab's query would leave the house, and the answer is about what the
 * internet sees.
 */
export const MASTERS: ReadonlyMap<string, string> = new Map([
  ['altvmp', 'api.alt-mp.com'],
  ['asa', 'api.epicgames.dev'],
  ['beammp', 'backend.beammp.com'],
  ['beammpmaster', 'backend.beammp.com'],
  ['brokeprotocol', 'bp.userr00t.com'],
  ['brokeprotocolmaster', 'bp.userr00t.com'],
  ['discord', 'discordapp.com'],
  ['epic', 'api.epicgames.dev'],
  ['factorio', 'multiplayer.factorio.com'],
  ['geneshift', 'geneshift.net'],
  ['hawakening', 'hawakening.com'],
  ['hawakeningmaster', 'hawakening.com'],
  ['minetest', 'servers.minetest.net'],
  ['ragemp', 'cdn.rage.mp'],
  ['renegadex', 'serverlist-rx.totemarts.services'],
  ['renegadexmaster', 'serverlist-rx.totemarts.services'],
  ['renown', 'api.epicgames.dev'],
  ['scpsl', 'api.scpslgame.com'],
  ['squad', 'api.epicgames.dev'],
  ['theisleevrima', 'api.epicgames.dev'],
  ['tribes1master', "the game's list of servers"],
  ['vintagestory', 'masterserver.vintagestory.at'],
  ['vintagestorymaster', 'masterserver.vintagestory.at'],
])
