import { parseArgs } from 'node:util'
import { VIEW_NAMES, type ViewName } from './view.ts'

export const USAGE = `Usage: npm run tui -- --url ADDRESS/ops --key KEY [--view VIEW] [--read-only] [--json]

The address and an operator key may stand in CCS_OPS_URL and CCS_OPS_KEY instead. VIEW is one of
${VIEW_NAMES.join(', ')}. --json, or no terminal, prints one snapshot of the view and ends:
status 0, 1 where the service cannot be reached or refuses the key, 2 for wrong arguments.`

/** What is wrong with the arguments, in a line for people. */
export class ArgumentError extends Error {
  override name = 'ArgumentError'
}

export interface Arguments {
  url: string
  key: string
  view: ViewName
  readOnly: boolean
  json: boolean
}

const OPTIONS = {
  url: { type: 'string' },
  key: { type: 'string' },
  view: { type: 'string' },
  'read-only': { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
} as const

/** Throws `ArgumentError`; returns null where somebody asks for help. */
export function readArguments(args: string[], env: Record<string, string | undefined>): Arguments | null {
  const given = parse(args)
  if (given.help) return null
  const url = given.url ?? env['CCS_OPS_URL']
  const key = given.key ?? env['CCS_OPS_KEY']
  if (!url) throw new ArgumentError('No address: give --url or CCS_OPS_URL')
  if (!isHttp(url)) throw new ArgumentError('--url is no http or https address')
  if (!key) throw new ArgumentError('No operator key: give --key or CCS_OPS_KEY')
  // What no header can carry is no key.
  if (!/^[\x21-\x7e]+$/.test(key)) throw new ArgumentError('--key is no operator key')
  return {
    url: url.replace(/\/+$/, ''),
    key,
    view: readView(given.view ?? 'overview'),
    readOnly: given['read-only'] ?? false,
    json: given.json ?? false,
  }
}

function parse(args: string[]) {
  try {
    return parseArgs({ args, options: OPTIONS }).values
  } catch (error) {
    throw new ArgumentError(error instanceof Error ? error.message : String(error))
  }
}

function readView(given: string): ViewName {
  const view = VIEW_NAMES.find((name) => name === given)
  if (!view) throw new ArgumentError(`No view ${given}; there are ${VIEW_NAMES.join(', ')}`)
  return view
}

function isHttp(address: string): boolean {
  try {
    return /^https?:$/.test(new URL(address).protocol)
  } catch {
    return false
  }
}
