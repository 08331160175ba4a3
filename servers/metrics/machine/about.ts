import { arch, hostname, release } from 'node:os'
import { join } from 'node:path'
import type { About } from './machine.ts'
import { type Roots, readFirst, readText } from './roots.ts'

const HYPERVISORS =
  /QEMU|KVM|VMware|VirtualBox|Xen|Bochs|Parallels|Virtual Machine|Amazon EC2|Google Compute|OpenStack|HVM/i

export async function readAbout(roots: Roots, hostName: string | undefined): Promise<About> {
  const [os, uptime, virtual] = await Promise.all([
    readText(join(roots.host ?? '/', 'etc/os-release')),
    readFirst([join(roots.proc, 'uptime')]),
    readVirtual(roots),
  ])
  const pretty = os === undefined ? undefined : /^PRETTY_NAME="?(.*?)"?$/m.exec(os)?.[1]
  return {
    host: hostName ?? (await readHostName(roots)),
    kernel: release(),
    arch: arch(),
    uptimeSeconds: Number.parseFloat(uptime),
    os: pretty || undefined,
    virtual,
  }
}

/** Returns the host's own name; a container has another. */
async function readHostName({ host }: Roots): Promise<string> {
  return (host === undefined ? undefined : await readText(join(host, 'etc/hostname'))) || hostname()
}

async function readVirtual({ sys, proc }: Roots): Promise<string | undefined> {
  const id = join(sys, 'class/dmi/id')
  const [vendor, product] = await Promise.all([
    readText(join(id, 'sys_vendor')),
    readText(join(id, 'product_name')),
  ])
  const name = [vendor, product].filter(Boolean).join(' ')
  if (HYPERVISORS.test(name)) return name
  const flags = /^flags\s*:.*$/m.exec((await readText(join(proc, 'cpuinfo'))) ?? '')?.[0]
  return flags && / hypervisor\b/.test(flags) ? 'a virtual machine' : undefined
}
