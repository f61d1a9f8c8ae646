/** ISO 8601, or null for what has not happened. */
export const isoOrNull = (date: Date | null | undefined): string | null => date?.toISOString() ?? null
