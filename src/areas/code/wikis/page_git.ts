/** The pages of a wiki at a commit. Information about a folder or a file is cached by its object id, so a change of one page invalidates little. */
import { answersOf } from '../../../foundation/caches.ts';
import { nextTurn } from '../../../foundation/loop_turns.ts';
import { entryAt, NamedFiles, type Repository, readCommit } from '../../../git/index.ts';
import { extensions, type Format, isHome, pageIn, partsOf, slugOf } from './rules.ts';

/** A file that is a page. */
export interface Page {
  path: string;
  slug: string;
  format: Format;
  blob_id: string;
}

/** A wiki at a commit. */
export interface Version {
  repository: Repository;
  wiki_id: number;
  commit_id: string;
}

/** Reading and sorting this many takes some 30 ms. */
const maximumPages = 20_000;

const files = new NamedFiles((name) => pageIn(name) !== undefined);

function pageOf(path: string, blob_id: string): Page | undefined {
  const known = pageIn(path);
  return known && { path, blob_id, ...known };
}

/** A page shown beside others, which can be read like any other but is not listed. */
const isSidebar = ({ slug }: Page): boolean => partsOf(slug).name === '_sidebar';

const rankOf = ({ path }: Page): number => extensions.indexOf(path.slice(path.lastIndexOf('.') + 1));

/** Sorted by folder, then slug; among pages with the same slug, the page that the slug resolves to comes first. */
function inOrder(pages: readonly Page[]): Page[] {
  const keyed = pages.map((page) => ({ page, folder: partsOf(page.slug).folder }));
  keyed.sort((one, other) => {
    if (one.folder !== other.folder) return one.folder < other.folder ? -1 : 1;
    if (one.page.slug !== other.page.slug) return one.page.slug < other.page.slug ? -1 : 1;
    return rankOf(one.page) - rankOf(other.page);
  });
  return keyed.map(({ page }) => page);
}

/** Cached by the tree of a commit. */
const lists = answersOf<{ repository: Repository; tree_id: string }, readonly Page[]>(
  async ({ repository, tree_id }) => {
    const found = await files.in(repository, tree_id, maximumPages);
    const pages = found.flatMap(({ path, id }) => pageOf(path, id) ?? []).filter((page) => !isSidebar(page));
    await nextTurn();
    return inOrder(pages);
  },
  { maxSize: 32 * 1024 * 1024, sizeCalculation: (pages) => 500 + pages.length * 400 },
);

/** The pages of a wiki, from its first 20,000 files. */
export async function pagesOf({ repository, commit_id }: Version): Promise<readonly Page[]> {
  const { tree_id } = await readCommit(repository, commit_id);
  return (await lists.fetch(`${repository.path}\0${tree_id}`, { context: { repository, tree_id } }))!;
}

/** The page in the file with exactly this slug. */
async function pageNamed({ repository, commit_id }: Version, slug: string): Promise<Page | undefined> {
  for (const extension of extensions) {
    const path = `${slug}.${extension}`;
    const entry = await entryAt(repository, commit_id, path);
    if (entry?.type === 'blob') return pageOf(path, entry.id);
  }
  return undefined;
}

/**
 * The page with a slug; undefined if there is none. Pushed files may have spaces instead of hyphens, and the home page may have capital letters.
 */
export async function pageAt(version: Version, slug: string): Promise<Page | undefined> {
  const named = await pageNamed(version, slug);
  if (named || !(slug.includes('-') || slug.includes(' ') || isHome(slug))) return named;
  const pages = await pagesOf(version);
  const isMeant = isHome(slug) ? isHome : (other: string) => slugOf(other) === slugOf(slug);
  return pages.find((page) => isMeant(page.slug));
}
