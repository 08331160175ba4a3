import { expect, test } from 'vitest'
import { parseMounts } from './mounts.ts'

const line = (mount: string, type: string, device: string, options = 'rw') =>
  `27 1 254:0 / ${mount} rw,relatime shared:1 - ${type} ${device} ${options}`
const mountsOf = (...lines: string[]) => parseMounts(lines.join('\n')).map(({ mount }) => mount)

test.each([
  ['a disk', line('/', 'ext4', '/dev/sda1'), ['/']],
  ['a pool', line('/tank/media', 'zfs', 'tank/media'), ['/tank/media']],
  ['a share', line('/mnt/nas', 'nfs4', 'nas:/export'), ['/mnt/nas']],
  ['a Windows share', line('/mnt/win', 'cifs', '//win/c'), ['/mnt/win']],
  ['a merged pool', line('/storage', 'fuse.mergerfs', 'a:b'), ['/storage']],
  ['a stick', line('/run/media/me/stick', 'vfat', '/dev/sdc1'), ['/run/media/me/stick']],
  ['the overlay that is the root', line('/', 'overlay', 'overlay'), ['/']],
  ['another overlay', line('/var/lib/docker/overlay2/x/merged', 'overlay', 'overlay'), []],
  ['memory', line('/dev/shm', 'tmpfs', 'tmpfs'), []],
  ['a snap', line('/snap/core/1', 'squashfs', '/dev/loop3', 'ro'), []],
  ['an image of a disk', line('/mnt/image', 'ext4', '/dev/loop3'), []],
  ['a DVD', line('/media/dvd', 'iso9660', '/dev/sr0', 'ro'), []],
  ['a process filesystem', line('/proc', 'proc', 'proc'), []],
  ['control groups', line('/sys/fs/cgroup', 'cgroup2', 'cgroup2'), []],
  ["lxcfs' files", line('/var/lib/lxcfs', 'fuse.lxcfs', 'lxcfs'), []],
  ["a container's hosts file", line('/etc/hosts', 'ext4', '/dev/sda1'), []],
  ['compressed memory', line('/mnt/z', 'ext4', '/dev/zram1'), []],
  ['nothing', '', []],
  ['a cut line', '27 1 254:0 /', []],
])('%s', (_what, text, mounts) => {
  expect(mountsOf(text)).toEqual(mounts)
})

test('shows each device once, at its shortest path', () => {
  const btrfs = ['/home', '/', '/var/log'].map(mount => line(mount, 'btrfs', '/dev/nvme0n1p2'))
  expect(mountsOf(...btrfs, line('/boot', 'vfat', '/dev/nvme0n1p1'))).toEqual(['/', '/boot'])
})

test('reads escaped paths, and whether the filesystem itself is read-only', () => {
  expect(parseMounts(line('/mnt/my\\040disk', 'ext4', '/dev/sdb1', 'ro,errors=remount-ro'))).toEqual([
    { mount: '/mnt/my disk', device: '/dev/sdb1', type: 'ext4', readOnly: true },
  ])
  expect(parseMounts(line('/', 'ext4', '/dev/sda1', 'rw,errors=remount-ro'))[0]?.readOnly).toBe(false)
})
