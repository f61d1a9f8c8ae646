/** The line of docs/behaviour.md, npm start -- --json. */
export interface Announcement {
  ready: true
  environment: 'sandbox' | 'production'
  baseUrl: string
  provider: { id: string; site?: string }
  app: { appId: string; appSecret: string; apiKey: string; webhookSecret: string }
  partner?: { url: string }
  portal: { url: string; signInUrl: string }
  operator: { url: string; key: string }
  databaseUrl: string
  processes: { http: number[]; actors: number[]; 'browser-farm': number[] }
}

/** The same for people: what to open first. */
export function forPeople({ announcement, secretsFile }: { announcement: Announcement; secretsFile: string }): string {
  const { partner, baseUrl, provider, portal, operator, app } = announcement
  const lines = [
    `The service runs (${announcement.environment}).`,
    '',
    ...(partner ? [`  Open the example partner   ${partner.url}`] : []),
    ...(provider.site ? ['  Sign in at the provider     ada@example.test, any password but "wrong"'] : []),
    `  Service                     ${baseUrl}`,
    `  Developer portal            ${portal.signInUrl} (signs in once, within an hour)`,
    `  Operators                   ${operator.url}`,
    `  Their terminal              npm run tui -- --url ${operator.url} --key ${operator.key}`,
    `  App                         ${app.appId} (its secrets and the operator key are in ${secretsFile})`,
    '',
    'Ctrl-C stops all of it; the data stays.',
  ]
  return `${lines.join('\n')}\n`
}
