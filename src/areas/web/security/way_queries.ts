/** How a project comes to need an affected package: read from its lock file, in a thread, when a page shows it. */
import type { Static } from 'typebox';
import { TooMuchWaiting } from '../../../foundation/fair_threads.ts';
import { findWays, Unreadable } from '../../../lockfiles/index.ts';
import type { PageCall } from '../../../pages/index.ts';
import type { VulnerabilityDetails } from '../../code/vulnerabilities/index.ts';
import { fileToShow } from '../repository/file_queries.ts';

export type Affected = Static<typeof VulnerabilityDetails>['dependencies'][number];

/** An affected dependency, with the packages through which the project needs it; none if that is not known. */
export interface Advised extends Affected {
  way: readonly string[];
}

/** The most dependencies whose way is told. */
const mostAdvised = 5;

/** The lock file on the default branch, unless it is longer than pages read, or hidden from the caller. */
async function lockFile(call: PageCall, path: string): Promise<Buffer | undefined> {
  const file = await call.perhaps(fileToShow(call, path, 'HEAD'));
  return file?.text === undefined || file.is_cut ? undefined : Buffer.from(file.text);
}

/** The ways to dependencies that one lock file lists; none if reading it fails, costs too much, or has to wait for too many others. */
async function waysIn(
  call: PageCall,
  path: string,
  asked: readonly Affected[],
): Promise<readonly (readonly string[])[]> {
  const bytes = await lockFile(call, path);
  if (!bytes) return [];
  const packages = asked.map(({ name, version }) => ({ name, version }));
  try {
    return await findWays(path, bytes, packages, { owner: call.params.id!, content: `ways ${call.params.id} ${path}` });
  } catch (error) {
    if (error instanceof Unreadable || error instanceof TooMuchWaiting) return [];
    throw error;
  }
}

/** The first affected dependencies with their ways. Each lock file is read once. */
export async function advisedOf(call: PageCall, affected: readonly Affected[]): Promise<Advised[]> {
  const shown = affected.slice(0, mostAdvised);
  const indirect = shown.filter(({ direct }) => direct === false);
  const ways = new Map<Affected, readonly string[]>();
  const files = Map.groupBy(indirect, (each) => each.dependency_file_path);
  await Promise.all(
    [...files].map(async ([path, asked]) => {
      const found = await waysIn(call, path, asked);
      for (const [index, each] of asked.entries()) ways.set(each, found[index] ?? []);
    }),
  );
  return shown.map((each) => ({ ...each, way: ways.get(each) ?? [] }));
}
