/** Which pages of a wiki differ between two commits. */
import { type ChangedFile, changedFiles, OutputTooLong, type Repository } from '../../../git/index.ts';
import type { Page } from './page_git.ts';
import { pageIn } from './rules.ts';

export interface PageChange {
  action: 'created' | 'updated' | 'destroyed';
  /** As it is now, or for one that is gone, as it was. */
  page: Page;
  /** That of a page which has been renamed. */
  old_slug?: string;
}

/** The API creates no page with a longer one, and an index cannot hold every length. */
const maximumSlug_bytes = 1024;

function pageOf(path: string, mode: string, blob_id: string): Page | undefined {
  const known = mode.startsWith('100') ? pageIn(path) : undefined;
  return known && Buffer.byteLength(known.slug) <= maximumSlug_bytes ? { path, blob_id, ...known } : undefined;
}

/** What happened to the page in a file; undefined when there is and was none. */
function changeOf({ old_path, old_mode, old_id, path, mode, id }: ChangedFile): PageChange | undefined {
  // Of a file that has been added or removed, one of the modes is zero.
  const [before, after] = [pageOf(old_path, old_mode, old_id), pageOf(path, mode, id)];
  if (!after) return before && { action: 'destroyed', page: before };
  if (!before) return { action: 'created', page: after };
  return { action: 'updated', page: after, ...(before.slug === after.slug ? {} : { old_slug: before.slug }) };
}

/**
 * The pages that differ between two commits, in the order of their paths. A rename is what git takes for one.
 * @param range of which `from` is null for the first commit
 * @returns none for more files than git lists
 */
export async function changedPages(
  repository: Repository,
  range: { from: string | null; to: string },
): Promise<readonly PageChange[]> {
  const files = await changedFiles(repository, { ...range, renames: true }).catch((error: unknown) => {
    if (error instanceof OutputTooLong) return [];
    throw error;
  });
  const bySlug = new Map<string, PageChange>();
  for (const change of files.flatMap((file) => changeOf(file) ?? [])) {
    const { slug } = change.page;
    const other = bySlug.get(slug);
    // A page whose format has changed is in two files.
    bySlug.set(
      slug,
      other ? { action: 'updated', page: (change.action === 'destroyed' ? other : change).page } : change,
    );
  }
  return [...bySlug.values()];
}
