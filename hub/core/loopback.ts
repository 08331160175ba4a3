const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

/** Tells whether a hostname, as URLs have it, is that of the own machine. */
export function isLoopback(hostname: string): boolean {
  return LOOPBACK.includes(hostname)
}
