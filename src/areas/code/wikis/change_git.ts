/** Determines which pages of a wiki differ between two commits. */
import { type ChangedFile, changedFiles, OutputTooLong, type Repository } from '../../../git/index.ts';
import type { Page } from './page_git.ts';
import { pageIn } from './rules.ts';

export interface PageChange {
  action: 'created' | 'updated' | 'destroyed';
  /** The current page, or the last version of a deleted page. */
  page: Page;
  /** The slug before a rename. */
  old_slug?: string;
}

/** The API creates no page with a longer slug, and index entries are limited in length. */
const maximumSlug_bytes = 1024;

function pageOf(path: string, mode: string, blob_id: string): Page | undefined {
  const known = mode.startsWith('100') ? pageIn(path) : undefined;
  return known && Buffer.byteLength(known.slug) <= maximumSlug_bytes ? { path, blob_id, ...known } : undefined;
}

/** The change of the page in a file; undefined if the file was and is no page. */
function changeOf({ old_path, old_mode, old_id, path, mode, id }: ChangedFile): PageChange | undefined {
  // For an added or removed file, one of the modes is zero.
  const [before, after] = [pageOf(old_path, old_mode, old_id), pageOf(path, mode, id)];
  if (!after) return before && { action: 'destroyed', page: before };
  if (!before) return { action: 'created', page: after };
  return { action: 'updated', page: after, ...(before.slug === after.slug ? {} : { old_slug: before.slug }) };
}

/**
 * The pages that differ between two commits, in the order of their paths. Renames are detected by git.
 * @param range `from` is null for the first commit
 * @returns an empty list if more files differ than git lists
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
    // A page with a new format is in two files.
    bySlug.set(
      slug,
      other ? { action: 'updated', page: (change.action === 'destroyed' ? other : change).page } : change,
    );
  }
  return [...bySlug.values()];
}
