import { mkdir, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

/** Where programs and libraries, fonts, words and the time are found: all that a browser needs of the node's environment. */
const NEEDED = ['PATH', 'LANG', 'LANGUAGE', 'LC_ALL', 'TZ', 'LD_LIBRARY_PATH', 'FONTCONFIG_PATH', 'FONTCONFIG_FILE']

/**
 * For an address that is another program's (`tel:`, that of the provider's app) Chromium asks whether to open it, in a window of its own that nobody sees
 * and that takes every key and click from the page. Before, it asks the desktop whether such addresses are its own, and drops those that are.
 */
const DESKTOP = { program: 'xdg-settings', answer: '#!/bin/sh\necho yes\n' }

/** The environment of one browser, which has no secret of the service in it; `folder` is its home. */
export async function browserEnvironment(
  folder: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Record<string, string>> {
  const programs = join(folder, 'bin')
  await mkdir(programs)
  await writeFile(join(programs, DESKTOP.program), DESKTOP.answer, { mode: 0o700 })
  const given = NEEDED.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))
  const { PATH, ...rest }: Record<string, string> = Object.fromEntries(given)
  return { ...rest, PATH: [programs, ...(PATH ? [PATH] : [])].join(delimiter), HOME: folder, TMPDIR: folder }
}
