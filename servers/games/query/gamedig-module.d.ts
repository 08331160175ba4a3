/** What is used of gamedig, which comes without types. */
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
  /** Keeps a UDP socket, which does not keep the process alive, and which port of a server answered. */
  export class GameDig {
    query(options: Record<string, unknown>): Promise<unknown>
  }
}
