/** Of this process's own modules: TypeScript where it runs through tsx, JavaScript where it was compiled. */
const EXTENSION = import.meta.filename.endsWith('.ts') ? '.ts' : '.js'

/** How every process of the service runs: as this one does, through tsx or compiled. */
export const NODE_ARGUMENTS = EXTENSION === '.ts' ? ['--import', 'tsx'] : ['--enable-source-maps']

/**
 * And the actors: with room for what lives for a batch. With V8's own 16 MiB of it each sweep finds such things alive and copies them, which costs
 * a busy importer a tenth of its time. Other processes gain nothing by it, and would keep that room when they are at rest.
 */
export const ACTORS_ARGUMENTS = [...NODE_ARGUMENTS, '--max-semi-space-size=64']

/**
 * And the environment of a farm node: blocks of a MiB and more go back to the system once they are free. The C library (glibc) would keep those that
 * Playwright's program was read into, 15 MiB; pictures are smaller.
 */
export const FARM_MEMORY = { MALLOC_MMAP_THRESHOLD_: String(1_024 * 1_024) }

/** A program by its path without an extension. */
export const programFile = (path: string): string => `${path}${EXTENSION}`
