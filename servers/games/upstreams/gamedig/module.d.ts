/** The used part of gamedig, which has no types. */
declare module 'gamedig' {
  interface Game {
    name: string
    options: {
      protocol: string
      port?: number
      port_query?: number
      port_query_offset?: number | number[]
    }
  }

  export const games: Readonly<Record<string, Game | undefined>>
  export const protocols: Readonly<Record<string, unknown>>
  /**
   * A client with a UDP socket, which does not keep the process alive, and a memory of which port of a server
   * answered.
   */
  export class GameDig {
    query(options: Record<string, unknown>): Promise<unknown>
  }
}
