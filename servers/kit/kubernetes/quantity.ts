const DECIMAL = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E']
const BINARY = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']

/**
 * Parses a quantity of Kubernetes: "250m" is 0.25, "64Mi" is 67108864, "1e3" is 1000. Undefined for any other
 * text. See k8s.io/apimachinery/pkg/api/resource.
 */
export function toQuantity(text: string): number | undefined {
  const match = /^([+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)([numkMGTPE]|[KMGTPE]i)?$/.exec(text)
  if (!match) return undefined
  const number = Number(match[1])
  const suffix = match[2] ?? ''
  if (suffix.endsWith('i')) return number * 1024 ** (BINARY.indexOf(suffix) + 1)
  // Negative powers are computed by division, so that 250m is exactly 0.25.
  const power = DECIMAL.indexOf(suffix) - DECIMAL.indexOf('')
  return power < 0 ? number / 1000 ** -power : number * 1000 ** power
}
