import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { ConfigError } from '../../core/config.ts'
import { loadProfiles } from '../../provider/load-profiles.ts'
import { sandboxProfile } from '../../provider/profile.ts'

const site = 'http://127.0.0.1:4010'
const failure = async (config: Parameters<typeof loadProfiles>[0]): Promise<string> => {
  const error = await loadProfiles(config).catch((each: unknown) => each)
  assert.instance(error, ConfigError)
  return (error as Error).message
}

test('the file goes before the site, and what is wrong is told with the variable', async () => {
  assert.equal(await loadProfiles({ PROVIDER_SITE: site }), [sandboxProfile(site)])
  assert.match(await failure({}), 'PROVIDER_PROFILES')
  const folder = await mkdtemp(join(tmpdir(), 'profiles-'))
  try {
    const path = join(folder, 'profiles.json')
    assert.match(await failure({ PROVIDER_PROFILES: path }), /PROVIDER_PROFILES: .*ENOENT/)
    await writeFile(path, JSON.stringify([{ ...sandboxProfile(site), id: 'mine' }]))
    assert.is((await loadProfiles({ PROVIDER_PROFILES: path, PROVIDER_SITE: site }))[0]?.id, 'mine')
    await writeFile(path, '[{"id": "mine"}]')
    assert.match(await failure({ PROVIDER_PROFILES: path }), /^PROVIDER_PROFILES: .*displayName[^\n]*$/)
  } finally {
    await rm(folder, { recursive: true })
  }
})

test.run()
