import { mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Setup } from '../types.ts'
import { buildEngine } from './build-engine.ts'
import { buildWire, FERRETDB_VERSION } from './build-wire.ts'

interface Installed {
  /** Root of the Debian system that holds PostgreSQL with DocumentDB. */
  root: string
  /** The FerretDB executable. */
  ferretdb: string
}

const UNFINISHED = '.building-'
/** A build takes minutes: what is older was interrupted. */
const UNFINISHED_KEPT_MS = 6 * 3_600_000

/** The cache of engine and wire, built where it is missing: in a temporary folder that is renamed when it is complete. */
export async function installedFerretdb(setup: Setup): Promise<Installed> {
  const folder = join(setup.cacheDir, `ferretdb-${FERRETDB_VERSION}`)
  const installed = { root: join(folder, 'root'), ferretdb: join(folder, 'ferretdb') }
  if (await exists(folder)) return installed
  setup.progress('Building a database from Debian and Go packages (about two minutes, once)')
  await mkdir(setup.cacheDir, { recursive: true })
  await removeInterrupted(setup)
  const unfinished = await mkdtemp(join(setup.cacheDir, UNFINISHED))
  try {
    const root = join(unfinished, 'root')
    const engine = buildEngine({ root, setup })
    // Awaited one after the other, both are at work: neither may reject unseen.
    const wire = buildWire({ target: join(unfinished, 'ferretdb'), root, engine, setup })
    const [engineResult, wireResult] = await Promise.allSettled([engine, wire])
    if (engineResult.status === 'rejected') throw engineResult.reason
    if (wireResult.status === 'rejected') throw wireResult.reason
    await rename(unfinished, folder).catch(async (error) => {
      // Another process finished the same build first; its result is as good.
      if (!(await exists(folder))) throw error
    })
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
  return installed
}

async function removeInterrupted({ cacheDir, clock }: Setup): Promise<void> {
  for (const name of await readdir(cacheDir)) {
    if (!name.startsWith(UNFINISHED)) continue
    const path = join(cacheDir, name)
    const age = clock.now().getTime() - ((await stat(path).catch(() => undefined))?.mtimeMs ?? 0)
    if (age > UNFINISHED_KEPT_MS) await rm(path, { recursive: true, force: true })
  }
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
