/** Tells Jupyter of the kernel: a kernelspec in the user's data folder. */
import { mkdir, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { unwritable } from '../../files.ts'

export type InstallOptions = {
  /**
   * Command that starts the kernel; Jupyter adds the connection file. Default: this program with
   * `kernel`.
   */
  command?: readonly string[]
  /** Jupyter's data folder. Default: `JUPYTER_DATA_DIR`, else the user's. */
  folder?: string
}

/** Where Jupyter looks for a user's kernels. */
function jupyterFolder(): string {
  const given = process.env['JUPYTER_DATA_DIR']
  if (given) return given
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Jupyter')
  if (process.platform === 'win32') return join(process.env['APPDATA'] ?? homedir(), 'jupyter')
  return join(process.env['XDG_DATA_HOME'] || join(homedir(), '.local', 'share'), 'jupyter')
}

/**
 * Write the kernelspec. An older one of ours is replaced.
 *
 * @returns the folder of the kernelspec
 * @throws TouchstoneError `file_unwritable`; JUPYTER_DATA_DIR names another place
 */
export async function installKernel(options: InstallOptions = {}): Promise<string> {
  // The flags that this process runs with, such as a TypeScript loader, are part of the command.
  const command = options.command ?? [
    process.execPath,
    ...process.execArgv,
    process.argv[1] ?? '',
    'kernel',
  ]
  const folder = join(options.folder ?? jupyterFolder(), 'kernels', 'touchstone')
  const spec = {
    argv: [...command, '{connection_file}'],
    display_name: 'Touchstone',
    language: 'typescript',
    interrupt_mode: 'message',
    metadata: {},
  }
  try {
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'kernel.json'), `${JSON.stringify(spec, null, 2)}\n`)
  } catch (cause) {
    throw unwritable(folder, cause, "Jupyter's data folder")
  }
  return folder
}
