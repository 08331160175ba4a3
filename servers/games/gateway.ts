/**
 * Returns the IPv4 address of the default gateway from the text of `/proc/net/route`, undefined without one. In a
 * container the gateway is the machine, and UDP to it is answered from the same address. UDP to Docker's
 * `host.docker.internal` is answered from this address too, so that clients drop the answer (moby #11998).
 */
export function toGateway(routes: string): string | undefined {
  const [, gateway] = /^\S+\t0{8}\t([\dA-F]{8})\t/m.exec(routes) ?? []
  // The kernel prints the address as a number in the byte order of little-endian processors.
  return gateway && [...Buffer.from(gateway, 'hex').reverse()].join('.')
}
