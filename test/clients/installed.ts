/** Clients in other languages: installed and built once, and kept for later runs. */
import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const kept = path.resolve(import.meta.dirname, '../../node_modules/.cache/clients');
const week_ms = 7 * 24 * 3_600_000;

/** Why a program is not available on this machine. */
export interface Missing {
  missing: string;
}

export function missing(name: string, error: unknown): Missing {
  const { message, stderr = '' } = error as Error & { stderr?: string };
  return { missing: `${name} cannot be installed: ${stderr.trim().split('\n').at(-1) || message}` };
}

/**
 * The folder of what is made once.
 * @param key everything that decides on its content, such as versions
 */
export async function keptFolder(key: string, make: (folder: string) => Promise<unknown>): Promise<string> {
  const folder = path.join(kept, key.replaceAll(/[^\w.-]+/g, '-'));
  if (existsSync(folder)) return folder;
  const draft = `${folder}.draft-${process.pid}`;
  await mkdir(draft, { recursive: true });
  try {
    await make(draft);
    // Another process may have been faster.
    await rename(draft, folder).catch((error) => {
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return folder;
}

/** Runs the Python of the machine with the packages beside it. */
const shim = `#!/bin/sh
PYTHONPATH="$(dirname "$0")/..:$PYTHONPATH" exec python3 "$@"
`;

/**
 * Installs a package of Python in its newest version of the week.
 * @returns its interpreter, `bin/python`, and its programs beside that
 */
export async function pythonWith(name: string): Promise<{ python: string } | Missing> {
  try {
    const { stdout: version } = await run('python3', ['--version']);
    const week = Math.floor(Date.now() / week_ms);
    const folder = await keptFolder(`${name} ${version.trim()} ${week}`, async (draft) => {
      await run('python3', ['-m', 'pip', 'install', '--quiet', '--target', draft, name]);
      await mkdir(path.join(draft, 'bin'), { recursive: true });
      await writeFile(path.join(draft, 'bin/python'), shim);
      await chmod(path.join(draft, 'bin/python'), 0o755);
    });
    return { python: path.join(folder, 'bin/python') };
  } catch (error) {
    return missing(name, error);
  }
}

// Unoptimised and without C, a first build takes half as long.
const goOptions = ['-gcflags=all=-N -l', '-ldflags=-s -w'];

/**
 * Builds a program of a Go module, whose `go.mod` pins everything. Another toolchain than the installed one is not fetched.
 * @param source folder of the module
 * @param of the package to build
 * @param into folder for the program
 */
export async function buildGo(source: string, of: string, into: string): Promise<{ program: string } | Missing> {
  const env = { ...process.env, CGO_ENABLED: '0', GOTOOLCHAIN: 'local' };
  const go = (...args: string[]) => run('go', args, { cwd: source, env });
  try {
    await go('mod', 'download');
  } catch (error) {
    return missing('Modules of Go', error);
  }
  const program = path.join(into, 'program');
  // Go keeps what it compiles by itself.
  await go('build', ...goOptions, '-o', program, of);
  return { program };
}

/**
 * Builds a program of a Cargo package, whose `Cargo.lock` pins everything. The first build takes minutes.
 * @param name of the package and its program
 * @param source folder of the package
 */
export async function buildRust(name: string, source: string): Promise<{ program: string } | Missing> {
  try {
    await run('cargo', ['fetch', '--locked', '--quiet'], { cwd: source });
  } catch (error) {
    return missing(name, error);
  }
  const lock = hash('sha256', await readFile(path.join(source, 'Cargo.lock'))).slice(0, 16);
  // Cargo builds anew what has changed.
  const target = await keptFolder(`${name} ${lock}`, async () => {});
  await run('cargo', ['build', '--locked', '--offline', '--quiet', '--target-dir', target], { cwd: source });
  return { program: path.join(target, 'debug', name) };
}
