/** A mounted filesystem as the kernel lists it. */
export interface Mount {
  readonly mount: string
  readonly device: string
  readonly type: string
  readonly readOnly: boolean
}

/** Devices that hold no data of their own: images of snaps, memory. */
const NO_DISK = /^\/dev\/(loop|ram|zram)/
/** Image filesystems, which are always full. */
const IMAGES = new Set(['squashfs', 'iso9660', 'udf', 'erofs', 'cramfs'])
/** Filesystems without a device below /dev: pools, shares of the network and of a hypervisor. */
const DEVICELESS =
  /^(zfs|bcachefs|nfs4?|cifs|smb3|ceph|9p|virtiofs|fuse\.(mergerfs|sshfs|glusterfs|ceph|rclone|zfs))$/
/** Paths of mounts by container engines and the system that show a disk once more. */
const INSIDE =
  /^\/((proc|sys|dev|snap)(\/|$)|run\/(?!media\/)|etc\/(hosts|hostname|resolv\.conf)$|var\/lib\/(docker|containers|containerd|kubelet|lxcfs|snapd)\/)/

/** Returns the mounts of real disks of a mountinfo text (proc_pid_mountinfo(5)). */
export function parseMounts(text: string): Mount[] {
  return pickRealDisks(text.split('\n').flatMap(parseMount))
}

/**
 * Picks the mounts of real disks: no pseudo filesystems, no images, each device once, at its shortest path;
 * of overlays only `/`, which is a container's own disk.
 */
export function pickRealDisks<Of extends Mount>(mounts: readonly Of[]): Of[] {
  const byDevice = new Map<string, Of>()
  for (const mount of mounts) {
    if (!isRealDisk(mount)) continue
    const known = byDevice.get(mount.device)
    if (!known || mount.mount.length < known.mount.length) byDevice.set(mount.device, mount)
  }
  return [...byDevice.values()].sort((a, b) => (a.mount < b.mount ? -1 : 1))
}

function parseMount(line: string): Mount[] {
  const [own, filesystem] = line.split(' - ')
  const mount = own?.split(' ')[4]
  const [type, device, options] = filesystem?.split(' ') ?? []
  if (!mount || !type || !device) return []
  const readOnly = (options ?? '').split(',').includes('ro')
  return [{ mount: decodeOctal(mount), device: decodeOctal(device), type, readOnly }]
}

function isRealDisk({ mount, device, type }: Mount): boolean {
  if (type === 'overlay') return mount === '/'
  if (IMAGES.has(type) || INSIDE.test(mount)) return false
  return (
    DEVICELESS.test(type) || (device.startsWith('/dev/') && !NO_DISK.test(device) && device !== '/dev/fuse')
  )
}

/** Decodes a path: the kernel writes space, tab, line end and backslash as three octal digits. */
function decodeOctal(text: string): string {
  return text.replace(/\\(\d{3})/g, (_, digits) => String.fromCharCode(Number.parseInt(digits, 8)))
}
