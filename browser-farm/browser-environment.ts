/** Where programs and libraries, fonts, words and the time are found: all that a browser needs of the node's environment. */
const NEEDED = ['PATH', 'LANG', 'LANGUAGE', 'LC_ALL', 'TZ', 'LD_LIBRARY_PATH', 'FONTCONFIG_PATH', 'FONTCONFIG_FILE']

/** The environment of one browser, which has no secret of the service in it; `folder` is its home. */
export function browserEnvironment(folder: string, env: NodeJS.ProcessEnv = process.env): Record<string, string> {
  const given = NEEDED.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))
  return { ...Object.fromEntries(given), HOME: folder, TMPDIR: folder }
}
