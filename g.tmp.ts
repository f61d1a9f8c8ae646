import { readProject } from './test/boundaries/project.ts'
import { importsOf } from './test/boundaries/imports.ts'
import { findCycles } from './test/boundaries/cycles.ts'
const files = await readProject()
const graph = new Map(files.map(f=>[f.path, new Set(importsOf(f).flatMap(i=>i.target?[i.target]:[]))]))
const all = new Set(graph.keys())
for (const [p, ts] of graph) for (const t of ts) if (!all.has(t)) console.log('unresolved', p, t)
console.log('CYCLES'); for (const c of findCycles(graph)) console.log(c.join('  '))
const dir = (p:string)=>p.split('/').slice(0,-1).join('/')
const folders = new Map<string, Map<string,number>>()
for (const [p, ts] of graph) { const d=dir(p); if(/^(test|bench|sdk)/.test(d)) continue
 const m = folders.get(d) ?? new Map(); folders.set(d,m); for (const t of ts) if (dir(t)!==d) m.set(dir(t),(m.get(dir(t))??0)+1) }
console.log('FOLDERS'); for (const [d,m] of folders) console.log(d, '->', [...m].sort().map(([k,n])=>k+'('+n+')').join(' '))
