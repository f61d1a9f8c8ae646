import { chmod, lstat, mkdir, stat } from 'node:fs/promises'
import { ConfigError } from '../core/config.ts'

/**
 * Makes a folder that no other user of the machine looks into, for data, mails, secrets and what is run. Throws `ConfigError` where it is
 * another user's already.
 */
export async function ownFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 })
  await mustBeOurs(path)
  // Made by somebody, for us: as they want it.
  if ((await stat(path)).uid === process.getuid?.()) await chmod(path, 0o700)
}

/** Of the project as it was installed, and of what was compiled of it: whose they are may change what runs anyway. */
const PACKAGES = new URL('../node_modules', import.meta.url)

/**
 * Throws `ConfigError` where something is there that is neither this user's nor root's, nor of whom the project itself is: its owner could exchange what
 * the service runs and keeps there at any time, also by a link that leads there.
 */
export async function mustBeOurs(path: string): Promise<void> {
  const trusted = new Set([process.getuid?.(), 0, (await stat(PACKAGES)).uid])
  for (const look of [lstat, stat]) {
    const found = await look(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined
      throw error
    })
    if (found && process.getuid && !trusted.has(found.uid))
      throw new ConfigError(
        `${path} belongs to another user (${found.uid}); remove it, or set DATA_DIR to a folder of your own`,
      )
  }
}
