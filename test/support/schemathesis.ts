import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const VERSION = '4.32.5'
const FOLDER = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'ccs', `schemathesis-${VERSION}`)
/** Written when the installation is whole: half of one is made again. */
const COMPLETE = join(FOLDER, 'complete')
const INSTALL_MS = 120_000

/** The schemathesis program, installed once into a cache that clones share; the reason where this machine cannot have it. */
export async function findSchemathesis(): Promise<{ program: string } | { missing: string }> {
  const program = join(FOLDER, 'bin', 'schemathesis')
  if (existsSync(COMPLETE)) return { program }
  try {
    await mkdir(FOLDER, { recursive: true })
    await run('python3', ['-m', 'venv', '--clear', FOLDER], { timeout: INSTALL_MS })
    const pip = ['install', '--quiet', '--disable-pip-version-check', `schemathesis==${VERSION}`]
    await run(join(FOLDER, 'bin', 'pip'), pip, { timeout: INSTALL_MS })
    await writeFile(COMPLETE, '')
    return { program }
  } catch (error) {
    return { missing: (error as Error).message.split('\n').slice(0, 2).join(' ') }
  }
}
