import { copyFile, mkdtemp, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { runCommand } from '../../run-command.ts'
import type { Setup } from '../types.ts'
import { installInRoot, runInRoot } from './build-engine.ts'

export const FERRETDB_VERSION = '2.7.0'
const MODULE = `github.com/FerretDB/FerretDB/v2/cmd/ferretdb@v${FERRETDB_VERSION}`
const NEEDED_GO = { major: 1, minor: 25 }
const CERTIFICATES = 'etc/ssl/certs/ca-certificates.crt'

/** Builds FerretDB with the machine's Go, or with Debian's in `root` (once `engine` is there) where the machine has none. */
export async function buildWire({
  target,
  root,
  engine,
  setup,
}: {
  target: string
  root: string
  engine: Promise<void>
  setup: Setup
}): Promise<void> {
  if (!(await hasGo(setup))) {
    await engine
    return buildInRoot({ target, root, setup })
  }
  const folder = await mkdtemp(join(dirname(target), 'go-'))
  const env = { HOME: homedir(), ...setup.env, GOBIN: folder }
  await runCommand('go', ['install', MODULE], { env, signal: setup.signal })
  await rename(join(folder, 'ferretdb'), target)
  await rm(folder, { recursive: true })
}

async function hasGo({ env, signal }: Setup): Promise<boolean> {
  const version = await runCommand('go', ['env', 'GOVERSION'], { env: { HOME: homedir(), ...env }, signal }).catch(
    () => '',
  )
  const [, major = 0, minor = 0] = /^go(\d+)\.(\d+)/.exec(version)?.map(Number) ?? []
  return major > NEEDED_GO.major || (major === NEEDED_GO.major && minor >= NEEDED_GO.minor)
}

async function buildInRoot({ target, root, setup }: { target: string; root: string; setup: Setup }): Promise<void> {
  const packages = ['golang-go', 'ca-certificates']
  await installInRoot({ root, packages, setup })
  // The machine may trust authorities (of a mirror, say) that Debian does not know.
  await copyFile(`/${CERTIFICATES}`, join(root, CERTIFICATES)).catch(() => undefined)
  const env = {
    HOME: '/srv/go',
    GOPATH: '/srv/go',
    GOCACHE: '/srv/go/cache',
    GOBIN: '/srv/go/bin',
    GOTOOLCHAIN: 'local',
  }
  await runInRoot({ root, command: ['go', 'install', MODULE], env, setup })
  await rename(join(root, 'srv/go/bin/ferretdb'), target)
  await rm(join(root, 'srv/go'), { recursive: true })
  await runInRoot({ root, command: ['apt-get', 'purge', '-y', '--auto-remove', ...packages], setup })
}
