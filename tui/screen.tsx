import { Box, Text, type TextProps } from 'ink'
import { memo, useSyncExternalStore } from 'react'
import type { Dashboard } from './dashboard.ts'
import { draw, type Line } from './draw.ts'

const STYLES: Record<NonNullable<Line['style']>, TextProps> = {
  selected: { inverse: true },
  strong: { bold: true },
  faint: { dimColor: true },
  warn: { color: 'yellow' },
  bad: { color: 'red' },
  alarm: { inverse: true, color: 'red', bold: true },
}

/** The dashboard, drawn anew with every change of it. */
export function Screen({ dashboard }: { dashboard: Dashboard }) {
  useSyncExternalStore(dashboard.subscribe, dashboard.state)
  return (
    <Box flexDirection="column">
      {draw(dashboard).map(({ text, style }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line of the screen is its place
        <DrawnLine key={index} text={text} style={style} />
      ))}
    </Box>
  )
}

/** Ink looks at every character: spaces at the end are left out where they show nothing. */
const DrawnLine = memo(({ text, style }: { text: string; style: Line['style'] }) => (
  <Text wrap="truncate" {...(style && STYLES[style])}>
    {style === 'selected' || style === 'alarm' ? text : text.trimEnd() || ' '}
  </Text>
))
