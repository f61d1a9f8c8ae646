import { randomBytes } from 'node:crypto'
import { link, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { ConfigError } from '../core/config.ts'
import { KEY_BYTES } from '../core/envelope.ts'
import { newApiKey, newId, newSecret } from '../core/ids.ts'
import { mustBeOurs, ownFolder } from './own-folder.ts'

const kept = z.object({
  /** Base64; in production it comes from outside. */
  masterKey: z.string(),
  operatorKey: z.string(),
  app: z.object({ appSecret: z.string(), apiKey: z.string(), webhookSecret: z.string() }),
})

export type KeptSecrets = z.infer<typeof kept>

/** The secrets of one `DATA_DIR`, made at its first start and the same ever after; in a file that only its owner reads. */
export async function keepSecrets({ dataDir }: { dataDir: string }): Promise<KeptSecrets> {
  await ownFolder(dataDir)
  const file = join(dataDir, 'secrets.json')
  const present = await readKept(file)
  if (present) return present
  await make(file)
  return keepSecrets({ dataDir })
}

async function readKept(file: string): Promise<KeptSecrets | undefined> {
  await mustBeOurs(file)
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  return text === undefined ? undefined : parseKept({ file, text })
}

/**
 * Gets its name when it is complete, since half a file after a crash would lock everybody out of the data, and where nothing has that name: of
 * two starts at once each takes the secrets of the one that was first.
 */
async function make(file: string): Promise<void> {
  const secrets: KeptSecrets = {
    masterKey: randomBytes(KEY_BYTES).toString('base64'),
    operatorKey: newSecret(),
    app: { appSecret: newSecret(), apiKey: newApiKey(), webhookSecret: newSecret() },
  }
  const unfinished = `${file}.${newId()}`
  try {
    await writeFile(unfinished, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
    await link(unfinished, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await rm(unfinished, { force: true })
  }
}

function parseKept({ file, text }: { file: string; text: string }): KeptSecrets {
  try {
    return kept.parse(JSON.parse(text))
  } catch {
    throw new ConfigError(`${file} is not readable as secrets; put it back from a backup`)
  }
}
