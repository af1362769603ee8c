/** Rules of the project setting `dependency_paths` (docs/reference/dependencies.md#files). */
import { pathProblem } from '../../../git/index.ts';
import { hasListingName } from '../../../lockfiles/index.ts';

const maximumPaths = 100;

/** Longer paths do not fit an index. */
export const maximumPath_bytes = 2_000;

/** The reasons for refusing configured file paths, empty if they are valid. */
export function dependencyPathReasons(paths: readonly string[]): string[] {
  if (paths.length > maximumPaths) return [`are too many (maximum is ${maximumPaths})`];
  const isValid = (path: string) =>
    pathProblem(path) === undefined && Buffer.byteLength(path) <= maximumPath_bytes && hasListingName(path);
  return paths.every(isValid) ? [] : ['must be paths of files that list dependencies'];
}
