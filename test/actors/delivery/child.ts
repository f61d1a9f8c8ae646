import { connectDatabase } from '../../../schemas/database.ts'
import { deliveringRuntime, startDelivering } from './world.ts'

/** A process that delivers until it is killed: `child.ts <database address> <time scale>`. */
const [, , url = '', timeScale = ''] = process.argv
await connectDatabase({ url })
startDelivering(deliveringRuntime({ url, timeScale: Number(timeScale) }))
process.on('disconnect', () => process.exit(0))
process.send?.('ready')
