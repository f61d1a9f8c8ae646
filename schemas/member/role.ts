/** docs/behaviour.md, Developer portal: a developer works with keys and the webhook, an owner does everything. */
export const ROLES = ['developer', 'owner'] as const
export type Role = (typeof ROLES)[number]

export const isRole = (value: unknown): value is Role => ROLES.some((role) => role === value)

/** E-mail addresses are compared as people write them: without regard to case or spaces around them. */
export const normalEmail = (email: string): string => email.trim().toLowerCase()
