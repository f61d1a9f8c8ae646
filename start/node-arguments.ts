/**
 * How every process of the service runs: TypeScript through tsx, and room for what lives for a request or a batch. With V8's own 16 MiB
 * of it each sweep finds such things alive and copies them, which costs a busy importer a tenth of its time.
 */
export const NODE_ARGUMENTS = ['--import', 'tsx', '--max-semi-space-size=64']
