/** How a project comes to need an affected package: read from its lock file when a page shows it. */
import type { Static } from 'typebox';
import { wayTo } from '../../../lockfiles/index.ts';
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

/** The first affected dependencies with their ways. Each lock file is read once. */
export async function advisedOf(call: PageCall, affected: readonly Affected[]): Promise<Advised[]> {
  const shown = affected.slice(0, mostAdvised);
  const paths = new Set(shown.filter(({ direct }) => direct === false).map((each) => each.dependency_file_path));
  const read = await Promise.all([...paths].map(async (path) => [path, await lockFile(call, path)] as const));
  const files = new Map(read);
  return shown.map((each) => {
    const bytes = each.direct === false ? files.get(each.dependency_file_path) : undefined;
    return { ...each, way: (bytes && wayTo(each.dependency_file_path, bytes, each)) ?? [] };
  });
}
