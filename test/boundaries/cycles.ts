/**
 * The circles of an import graph (path → paths that it imports): each group of two or more files from any of which every other is reached,
 * and each file that imports itself. Tarjan's algorithm.
 */
export function findCycles(graph: ReadonlyMap<string, Iterable<string>>): string[][] {
  const order = new Map<string, number>()
  const stack: string[] = []
  const onStack = new Set<string>()
  const cycles: string[][] = []

  const visit = (node: string): number => {
    const number = order.size
    order.set(node, number)
    let lowest = number
    stack.push(node)
    onStack.add(node)
    for (const next of graph.get(node) ?? []) {
      if (!order.has(next)) lowest = Math.min(lowest, visit(next))
      else if (onStack.has(next)) lowest = Math.min(lowest, order.get(next) ?? lowest)
    }
    if (lowest !== number) return lowest
    const group = stack.splice(stack.indexOf(node))
    for (const member of group) onStack.delete(member)
    if (group.length > 1 || [...(graph.get(node) ?? [])].includes(node)) cycles.push(group.sort())
    return lowest
  }
  for (const node of graph.keys()) if (!order.has(node)) visit(node)
  return cycles
}
