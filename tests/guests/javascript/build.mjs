import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { componentize } from '@bytecodealliance/componentize-js'

const [source, wit, output] = process.argv.slice(2).map((path) => resolve(path))
const { component } = await componentize({ sourcePath: source, witPath: wit, worldName: 'tool' })
await writeFile(output, component)
