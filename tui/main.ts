import { ArgumentError, type Arguments, readArguments, USAGE } from './arguments.ts'
import { createClient, OpsError } from './client.ts'
import { snapshot } from './snapshot.ts'
import { clean } from './text.ts'

/** `npm run tui`: the operators' dashboard on a terminal; one snapshot where there is none, or where it is asked for. */
async function main(): Promise<number> {
  let given: Arguments | null
  try {
    given = readArguments(process.argv.slice(2), process.env)
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error
    process.stderr.write(`${error.message}\n${USAGE}\n`)
    return 2
  }
  if (!given) {
    process.stdout.write(`${USAGE}\n`)
    return 0
  }
  if (given.json || !process.stdout.isTTY || !process.stdin.isTTY) return print(given)
  prepareTerminal()
  const { runScreen } = await import('./run-screen.tsx')
  runScreen(given)
  return new Promise(() => undefined)
}

async function print({ url, key, view }: Arguments): Promise<number> {
  try {
    process.stdout.write(`${await snapshot({ client: createClient({ url, key }), view })}\n`)
    return 0
  } catch (error) {
    if (!(error instanceof OpsError)) throw error
    process.stderr.write(
      `${error.kind === 'refused' ? 'The key is refused' : 'The service'}: ${clean(error.message)}\n`,
    )
    return 1
  }
}

/** Before Ink and React are loaded, since they read their environment then. */
function prepareTerminal(): void {
  process.env['NODE_ENV'] ??= 'production'
  if (process.env['NO_COLOR']) process.env['FORCE_COLOR'] = '0'
  // Ink takes these for a machine without anybody who looks, and draws nothing until the end.
  for (const name of Object.keys(process.env)) {
    if (/^(?:CI|CI_.*|CONTINUOUS_INTEGRATION|DEV)$/.test(name)) delete process.env[name]
  }
}

process.exitCode = await main()
