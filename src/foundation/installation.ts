/** Locates the files of this installation, whether it runs from sources or from the output of `scripts/build.ts` (docs/decisions/0046). */
import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import path from 'node:path';

/** The folder of package.json. */
const top = path.dirname(findPackageJSON(import.meta.url)!);
const isBuilt = path.extname(import.meta.filename) === '.js';

/**
 * Finds a file that the product reads or runs at run time.
 * @param file e.g. `migrations`, from the top of the repository
 * @returns its absolute path
 */
export const installedFile = (file: string): string => path.join(top, file);

/**
 * Finds a program of the product that runs in a process or thread of its own: one of `programs` in `scripts/build.ts`.
 * @param name its source from `src/`, without the extension, such as `git/launcher_process`
 * @returns its absolute path
 */
export const programFile = (name: string): string => path.join(top, isBuilt ? `build/${name}.js` : `src/${name}.ts`);

/** The version of this installation, e.g. `0.1.0`. */
export const installedVersion = (JSON.parse(readFileSync(installedFile('package.json'), 'utf8')) as { version: string })
  .version;

/** Identifies the build: the beginning of a hash of its sources, e.g. `1a2b3c4d5e6f`; `sources` when the sources run directly. */
export const installedBuild = isBuilt ? readFileSync(installedFile('build/made_from'), 'utf8').slice(0, 12) : 'sources';
