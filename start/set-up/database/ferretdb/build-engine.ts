import { chmod, copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { installDebianPackages, systemEnv } from '../../debian-packages.ts'
import { runCommand } from '../../run-command.ts'
import type { Setup } from '../types.ts'

const PACKAGE = 'postgresql-18-documentdb'
const DEFAULT_MIRROR = 'http://deb.debian.org/debian'
const UNUSED_FILES = ['/usr/share/doc/*', '/usr/share/man/*', '/usr/lib/postgresql/*/lib/bitcode/*']

/** A small Debian (sid, which has PostgreSQL 18 with DocumentDB) in the folder `root`; nothing of the machine itself changes. */
export async function buildEngine({ root, setup }: { root: string; setup: Setup }): Promise<void> {
  const options = { env: systemEnv(setup.env), signal: setup.signal }
  const present = await runCommand('sh', ['-c', 'command -v debootstrap || true'], options)
  if (!present.trim()) await installDebianPackages({ packages: ['debootstrap'], ...setup })
  // debootstrap mounts proc: in a mount namespace of its own that ends with it, however it ends.
  const bootstrap = ['debootstrap', '--variant=minbase', 'sid', root, await mirror()]
  await runCommand('unshare', ['--mount', '--propagation', 'private', '--', ...bootstrap], options)
  await configureRoot(root)
  await installInRoot({ root, packages: [PACKAGE], setup })
  await mkdir(join(root, 'srv', 'data'), { recursive: true })
}

/** Installs Debian packages in `root`. */
export async function installInRoot({
  root,
  packages,
  setup,
}: {
  root: string
  packages: string[]
  setup: Setup
}): Promise<void> {
  await runInRoot({ root, command: ['apt-get', 'install', '-y', '--no-install-recommends', ...packages], setup })
}

/** Runs a command in `root` with proc and shared memory mounted for as long as it runs. */
export async function runInRoot({
  root,
  command,
  env = {},
  setup,
}: {
  root: string
  command: string[]
  env?: Record<string, string | undefined>
  setup: Setup
}): Promise<void> {
  const script = 'mount -t proc proc "$0/proc" && mount -t tmpfs tmpfs "$0/dev/shm" && exec chroot "$0" "$@"'
  await runCommand('unshare', ['--mount', '--propagation', 'private', '--', 'sh', '-c', script, root, ...command], {
    env: { ...systemEnv(setup.env), ...env },
    signal: setup.signal,
  })
}

/** The mirror that the machine's own packages come from. */
async function mirror(): Promise<string> {
  const sources = await readFile('/etc/apt/sources.list.d/debian.sources', 'utf8').catch(() => '')
  const list = await readFile('/etc/apt/sources.list', 'utf8').catch(() => '')
  return /^URIs:\s*(\S+)/m.exec(sources)?.[1] ?? /^deb\s+(?:\[.*\]\s+)?(\S+)/m.exec(list)?.[1] ?? DEFAULT_MIRROR
}

async function configureRoot(root: string): Promise<void> {
  for (const file of ['etc/resolv.conf', 'etc/hosts']) await copyFile(`/${file}`, join(root, file))
  for (const name of await readdir('/etc/apt/apt.conf.d')) {
    await copyFile(join('/etc/apt/apt.conf.d', name), join(root, 'etc/apt/apt.conf.d', name))
  }
  const policy = join(root, 'usr/sbin/policy-rc.d')
  await writeFile(policy, '#!/bin/sh\nexit 101\n')
  await chmod(policy, 0o755)
  const excludes = UNUSED_FILES.map((pattern) => `path-exclude=${pattern}\n`).join('')
  await writeFile(join(root, 'etc/dpkg/dpkg.cfg.d/ccs-unused-files'), excludes)
}
