import { CONFIG_VARIABLES, isFor } from '../core/config.ts'

/** What any program needs of the machine that it runs on: its paths, language, trusted authorities, and how Node itself runs. */
const SYSTEM_VARIABLES = /^(?:PATH|HOME|USER|TMPDIR|TZ|LANG|LC_\w+|LD_LIBRARY_PATH|SSL_CERT_\w+|NODE_\w+|XDG_\w+)$/

type Env = Record<string, string | undefined>

/** What a child that stands for somebody else gets of the parent's environment: nothing of the service. */
export const systemEnvironment = (env: Env): Env => pick(env, (name) => SYSTEM_VARIABLES.test(name))

/** OpenTelemetry's own (core/trace-export.ts). */
const TRACE_VARIABLES = /^OTEL_\w+$/

/** What a process of the service gets of it: that, and what its configuration and its trace export read. */
export const serviceEnvironment = (env: Env): Env =>
  pick(env, (name) => SYSTEM_VARIABLES.test(name) || TRACE_VARIABLES.test(name) || CONFIG_VARIABLES.has(name))

/** Of what the service's processes share, what one kind of them gets. */
export const environmentFor = (kind: string, env: Env): Env => pick(env, (name) => isFor(kind, name))

const pick = (env: Env, wanted: (name: string) => boolean): Env =>
  Object.fromEntries(Object.entries(env).filter(([name]) => wanted(name)))
